{#- The English names of the languages that answers are detected as, by their codes. -#}
{% macro language_names() -%}
    {%- do return({
        "ace": "Acehnese", "af": "Afrikaans", "am": "Amharic", "an": "Aragonese", "ar": "Arabic", "ary": "Moroccan Arabic",
        "arz": "Egyptian Arabic", "as": "Assamese", "az": "Azerbaijani", "ba": "Bashkir", "bcl": "Central Bikol",
        "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "br": "Breton", "bs": "Bosnian", "ca": "Catalan",
        "crh": "Crimean Tatar", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "dz": "Dzongkha",
        "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque",
        "ext": "Extremaduran", "fa": "Persian", "fi": "Finnish", "fo": "Faroese", "fr": "French",
        "fuv": "Nigerian Fulfulde", "fy": "Western Frisian", "ga": "Irish", "gcf": "Guadeloupean Creole",
        "gcr": "Guianese Creole", "gd": "Scottish Gaelic", "gl": "Galician", "gom": "Goan Konkani", "grc": "Ancient Greek",
        "gu": "Gujarati", "gug": "Paraguayan Guarani", "guw": "Gun", "ha": "Hausa", "hbo": "Biblical Hebrew",
        "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "ht": "Haitian Creole", "hu": "Hungarian", "hy": "Armenian",
        "id": "Indonesian", "ig": "Igbo", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "jv": "Javanese",
        "ka": "Georgian", "kab": "Kabyle", "kik": "Kikuyu", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean",
        "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin", "lb": "Luxembourgish", "lg": "Ganda", "lij": "Ligurian",
        "ln": "Lingala", "lo": "Lao", "lt": "Lithuanian", "ltg": "Latgalian", "lv": "Latvian", "mg": "Malagasy",
        "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese",
        "my": "Burmese", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian Nynorsk", "no": "Norwegian",
        "nso": "Northern Sotho", "oc": "Occitan", "om": "Oromo", "or": "Odia", "pa": "Punjabi", "pcm": "Nigerian Pidgin",
        "pl": "Polish", "ps": "Pashto", "pt": "Portuguese", "qu": "Quechua", "ro": "Romanian", "ru": "Russian",
        "rw": "Kinyarwanda", "sa": "Sanskrit", "sdh": "Southern Kurdish", "se": "Northern Sami", "si": "Sinhala",
        "sk": "Slovak", "sl": "Slovenian", "sn": "Shona", "so": "Somali", "sq": "Albanian", "sr": "Serbian",
        "st": "Southern Sotho", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "tg": "Tajik",
        "th": "Thai", "tk": "Turkmen", "tl": "Tagalog", "tr": "Turkish", "tt": "Tatar", "ug": "Uyghur", "uk": "Ukrainian",
        "ur": "Urdu", "uz": "Uzbek", "uzs": "Southern Uzbek", "vec": "Venetian", "vi": "Vietnamese", "vo": "Volapük",
        "wa": "Walloon", "wuu": "Wu Chinese", "xh": "Xhosa", "yo": "Yoruba", "yue": "Cantonese", "zh": "Chinese",
        "zu": "Zulu", "zxx": "No linguistic content"
    }) -%}
{%- endmacro %}

{#- The English name of a language's code; a code without a name is its own. -#}
{% macro language_name(code) -%}
    case {{ code }}
        {%- for one, name in language_names().items() %}
        when '{{ one }}' then '{{ name }}'
        {%- endfor %}
        else {{ code }}
    end
{%- endmacro %}

{#-
    Whether refusals in a language are recognised: `refusal_languages` lists the files of collector/answers/answer_rules. A variety that
    is detected by itself refuses in the words of its language.
-#}
{% macro has_refusal_patterns(code) -%}
    {%- set language_of = {"nn": "no", "ary": "ar", "arz": "ar", "wuu": "zh", "yue": "zh"} -%}
    {%- set codes = var("refusal_languages") | list -%}
    {%- for variety, language in language_of.items() if language in codes -%}
        {%- do codes.append(variety) -%}
    {%- endfor -%}
    {{ code }} in ({% for one in codes | unique %}'{{ one }}'{{ ", " if not loop.last }}{% endfor %})
{%- endmacro %}
