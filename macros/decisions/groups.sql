{#- Words of files for an unknown group, in lower case, as regular expressions. -#}
{% macro words_for_unknown() -%}
{%- do return([
    "unknown", "not (stated|specified|known|reported|provided|available)", "unspecified", "missing", "no data",
    "unbekannt", "nicht (bekannt|erfasst|angegeben)", "ohne angabe", "inconnue?", "non (renseigné|précisé)e?", "desconocid[oa]",
    "no especificado", "sin (dato|datos|especificar)", "sconosciut[oa]", "non specificato", "desconhecid[oa]",
    "não informado", "onbekend", "niet (opgegeven|bekend)", "bilinmiyor", "belirtilmemiş", "nieznan[ye]", "nie podano",
    "brak danych", "okän[dt]", "ej angivet", "ukendt", "ikke oplyst", "ukjent", "tuntematon", "неизвестно", "не указано", "不明",
    "未知", "غير معروف"
])
-%}
{%- endmacro %}

{#- Values in files for a group that people did not want to state, likewise. -#}
{% macro words_for_undisclosed() -%}
{%- do return([
    "undisclosed", "not disclosed", "(prefers?|preferred|declined?s?|chose|choose) (not )?to (say|state|answer|disclose|specify|self-identify)",
    "(i )?do not wish to (say|state|answer|disclose)", "withheld", "no answer", "keine (angabe|angaben|auskunft)", "k\\. ?a\\.",
    "(möchte )?(ich )?(möchte )?(es )?(nicht|lieber nicht) (sagen|angeben)", "non (communiqué|divulgué)e?",
    "(je )?préfère ne pas (le )?(dire|répondre|préciser)", "prefiero no (decirlo|responder|decir)", "no (declarado|revelado)",
    "preferisco non (rispondere|dirlo|dichiararlo)", "non dichiarato", "prefiro não (dizer|responder)", "não declarado",
    "wil(l)? (ik )?(niet|liever niet) (zeggen|opgeven)", "zeg ik liever niet", "belirtmek istemiyorum", "wolę nie podawać",
    "vill (ej|inte) (uppge|svara)", "не хочу отвечать", "回答しない", "不愿透露"
])
-%}
{%- endmacro %}

{#- Whether a group, or a part of an intersection, is that of people whose group was not disclosed. -#}
{% macro is_undisclosed_group(group_name) -%}
    regexp_matches(lower({{ group_name }}), '(^|\*)({{ words_for_undisclosed() | join("|") }})($|\*)')
{%- endmacro %}

{#- Whether a group, or a part of an intersection, is the one of people whose group is not known. -#}
{% macro is_unknown_group(group_name) -%}
    regexp_matches(lower({{ group_name }}), '(^|\*)({{ (words_for_unknown() + words_for_undisclosed()) | join("|") }})($|\*)')
{%- endmacro %}
