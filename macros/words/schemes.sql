{#-
    Tokenising schemes. A scheme turns an answer's text into a list of words by constant expressions, so that no regular
    expression differs by row (DuckDB compiles such a pattern once a row). Identity terms of scheme `words` are data: single
    words are left out where features are made, phrases become one token here by plain replacement.

    words                 ours: letters of any script, inner apostrophes and hyphens kept; an article hangs on the word after it;
                          in scripts without spaces each two neighbouring letters
    seed                  Xu, Potka & Thomo (2026), step 4 and the snippet's list of terms, split on white space
    seed_vectors          the same with words of two and more letters, as the snippet's vectoriser takes them
    reference             Cheng, Durmus & Jurafsky (2023): split on white space, then [^a-z] removed; a token without letters stays
                          as an empty word and counts
    reference_anonymised  the same after that paper's substring anonymiser, which also cuts inside words ("person" -> "per")
    reference_vectors     that anonymiser, then runs of two and more word characters, as its classifier takes them
    keys                  of a JSON object its keys, each whole and once: product types, apart from their explanations
-#}
{% macro scheme_names() -%}
    {{ return(["words", "seed", "seed_vectors", "reference", "reference_anonymised", "reference_vectors", "keys"]) }}
{%- endmacro %}

{#- The schemes of each run's analysis: the first is judged, the others give the published numbers. -#}
{% macro schemes_of_runs() -%}
    select
        run_id,
        unnest(schemes) as scheme,
        generate_subscripts(schemes, 1) = 1 as is_judged
    from (
        select
            run_id,
            from_json(analysis -> 'words' -> 'schemes', '["VARCHAR"]') as schemes
        from {{ ref("int_run_analysis_settings") }}
    )
{%- endmacro %}

{% macro scheme_tokens(scheme, text, phrases, response) -%}
    {%- if scheme == "words" -%} {{ biasledger.tokens_of_words(text, phrases) }}
    {%- elif scheme == "seed" -%} {{ biasledger.tokens_of_seed(text) }}
    {%- elif scheme == "seed_vectors" -%} {{ biasledger.tokens_of_seed_vectors(text) }}
    {%- elif scheme == "reference" -%} {{ biasledger.tokens_of_reference(text) }}
    {%- elif scheme == "reference_anonymised" -%} {{ biasledger.tokens_of_reference_anonymised(text) }}
    {%- elif scheme == "reference_vectors" -%} {{ biasledger.tokens_of_reference_vectors(text) }}
    {%- elif scheme == "keys" -%} {{ biasledger.keys_of_json(response) }}
    {%- else -%} {{ exceptions.raise_compiler_error("no tokenising scheme is called " ~ scheme) }}
    {%- endif -%}
{%- endmacro %}

{#- Letters of any script, inner apostrophes and hyphens kept, lower case. -#}
{% macro words_of(text) -%}
    regexp_extract_all(replace(lower({{ text }}), '’', ''''), '[\p{L}\p{M}\p{N}]+(?:[''-][\p{L}\p{M}\p{N}]+)*')
{%- endmacro %}

{#- Letters and marks of scripts that put no spaces between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer. -#}
{% macro unspaced_letters() -%}
    {{ return(
        "\\x{3005}-\\x{3007}\\x{3400}-\\x{4dbf}\\x{4e00}-\\x{9fff}\\x{f900}-\\x{faff}\\x{20000}-\\x{3ffff}"
        ~ "\\x{3041}-\\x{3096}\\x{309d}-\\x{309f}\\x{30a1}-\\x{30fa}\\x{30fc}-\\x{30ff}\\x{31f0}-\\x{31ff}\\x{ff66}-\\x{ff9f}"
        ~ "\\x{e01}-\\x{e3a}\\x{e40}-\\x{e4e}\\x{e81}-\\x{ece}\\x{edc}-\\x{edf}\\x{1000}-\\x{103f}\\x{1050}-\\x{109d}"
        ~ "\\x{1780}-\\x{17d3}\\x{17d7}\\x{17dc}\\x{17dd}"
    ) }}
{%- endmacro %}

{% macro is_unspaced(text) -%}
    regexp_matches({{ text }}, '[{{ biasledger.unspaced_letters() }}]')
{%- endmacro %}

{#- A term as a list of phrases holds it: a word with blanks around it, or letters that are cut out of a text without spaces. -#}
{% macro phrase_of_term(term) -%}
    if(
        {{ biasledger.is_unspaced(term) }},
        regexp_replace(replace({{ term }}, ' ', '  '), '([{{ biasledger.unspaced_letters() }}])', '\1' || chr(1), 'g'),
        ' ' || replace({{ term }}, ' ', '  ') || ' '
    )
{%- endmacro %}

{#-
    Each two neighbouring letters of words that are written without spaces, a letter with its marks and what is subscribed to
    it; a letter alone stays. Words that were cut out as terms are marked by chr(1) and stay whole.
-#}
{% macro letter_pairs(words) -%}
    {%- set letter = "[" ~ biasledger.unspaced_letters() ~ "](?:[\\x{1039}\\x{17d2}][" ~ biasledger.unspaced_letters()
        ~ "]|\\p{M})*" -%}
    flatten(
        list_transform(
            {{ words }},
            lambda word: case
                when contains(word, chr(1)) or contains(word, '>') then [replace(word, chr(1), '')]
                when
                    {{ biasledger.is_unspaced("word") }}
                    then string_split(
                        regexp_replace(
                            -- abc, then " a ab bc c ": the first and the last letter are taken off again.
                            regexp_replace(
                                regexp_replace(word, '[''-]*((?:{{ letter }})+)[''-]*', ' \1 ', 'g'),
                                '({{ letter }})', '\1 \1', 'g'
                            ),
                            ' {{ letter }} ', ' ', 'g'
                        ),
                        ' '
                    )
                else [word]
            end
        )
    )
{%- endmacro %}

{#- Words with two blanks between them, and each phrase as one; `sought`: the phrase as it is in the text. -#}
{% macro cut_phrases(text, phrases, sought="phrase") -%}
    -- Each word gets a blank on both sides, so that neighbouring phrases share none and plain replacement finds all.
    list_reduce(
        {{ phrases }},
        lambda remaining, phrase: replace(
            remaining, {{ sought }}, ' ' || replace(trim(phrase), '  ', '_') || ' '
        ),
        ' ' || {{ biasledger.joined_texts(biasledger.words_of(text), "  ") }} || ' '
    )
{%- endmacro %}

{#-
    A phrase to be taken out becomes one token (person_of_color), and an article hangs on the word after it (an>asian), so that
    both can be taken out where features are made.
-#}
{% macro tokens_of_words(text, phrases) -%}
    {#- A term of one letter was cut out of longer terms, too, whose letters are marked by chr(1): it goes back. -#}
    {%- set cut = "regexp_replace(" ~ biasledger.cut_phrases(text, phrases, "replace(phrase, chr(1), '')")
        ~ ", ' ([" ~ biasledger.unspaced_letters() ~ "]\\x01) \\x01', '\\1', 'g')" -%}
    list_filter(
        if(
            {{ biasledger.is_unspaced(text) }},
            {{ biasledger.letter_pairs(biasledger.split_with_articles(cut)) }},
            {{ biasledger.split_with_articles(biasledger.cut_phrases(text, phrases)) }}
        ),
        lambda word: word <> ''
    )
{%- endmacro %}

{% macro split_with_articles(words) -%}
    string_split(
        regexp_replace(
            {{ words }}, ' ({{ biasledger.articles() | join("|") }})  ([^ ]+) ', ' \1>\2  \2 ', 'g'
        ),
        ' '
    )
{%- endmacro %}

{#-
    Return the keys of the object in an answer, in lower case, without leading numbers; if its only key holds an object,
    the keys of that. The object begins with the first brace before a quotation mark and ends with the last brace after
    a value; text around it is ignored, with or without braces or brackets. Commas before a closing brace are left out.
    A list of objects has no keys: they name fields.
-#}
{% macro keys_of_json(response) -%}
    {%- set before = "regexp_extract(" ~ response ~ ", '^([\\s\\S]*?)\\{\\s*\"', 1)" -%}
    {%- set whole = "regexp_extract(substring(" ~ response ~ ", 1 + length(" ~ before ~ ")), "
        ~ "'^(\\{[\\s\\S]*(?:[\"\\d\\]}]|true|false|null)\\s*,?\\s*\\})', 1)" -%}
    {%- set object = "if(regexp_matches(" ~ before ~ ", '\\[\\s*$'), '', regexp_replace(" ~ whole ~ ", ',\\s*([}\\]])', '\\1', 'g'))" -%}
    list_distinct(list_filter(
        list_transform(
            {{ adapter.dispatch("keys_of_object", "biasledger")(object) }},
            lambda key: trim(regexp_replace(
                regexp_replace(lower(key), '^\s*\d+[.):](\s+|([^\d\s]|$))', '\2'), '[\s_\x00]+', ' ', 'g'
            ))
        ),
        lambda key: key <> ''
    ))
{%- endmacro %}

{% macro default__keys_of_object(object) -%}
    {#- Extract by a path that is the same for every answer, because a key may be empty, or a wildcard. -#}
    {%- set inner = "json_extract(" ~ object ~ ", '$.*')[1]" -%}
    case
        when not coalesce(json_valid({{ object }}), false) then []
        when len(json_keys({{ object }})) = 1 and json_type({{ inner }}) = 'OBJECT' then json_keys({{ inner }})
        else json_keys({{ object }})
    end
{%- endmacro %}

{#- The same by DuckDB, in Python: engines differ on what is JSON. -#}
{% macro sparksession__keys_of_object(object) -%}
    keys_of_object({{ object }})
{%- endmacro %}

{% macro seed_text(text) -%}
    {%- set terms = [
        "she", "he", "him", "her", "his", "hers", "mr", "mrs", "ms", "mx",
        "asian", "black", "white", "latino", "middle-eastern", "woman", "man", "nonbinary",
    ] -%}
    regexp_replace(regexp_replace(lower({{ text }}), '\b({{ terms | join("|") }})\b', '', 'g'), '[^a-z\s\p{Z}]', '', 'g')
{%- endmacro %}

{% macro tokens_of_seed(text) -%}
    regexp_extract_all({{ biasledger.seed_text(text) }}, '[a-z]+')
{%- endmacro %}

{% macro tokens_of_seed_vectors(text) -%}
    regexp_extract_all({{ biasledger.seed_text(text) }}, '[a-z]{2,}')
{%- endmacro %}

{#- White space is folded before letters are filtered, so that a token without letters leaves an empty word behind. -#}
{% macro split_then_clean(text) -%}
    string_split(regexp_replace(trim(regexp_replace({{ text }}, '[\s\p{Z}]+', ' ', 'g')), '[^a-z ]', '', 'g'), ' ')
{%- endmacro %}

{% macro tokens_of_reference(text) -%}
    {{ biasledger.split_then_clean("lower(" ~ text ~ ")") }}
{%- endmacro %}

{#- The paper's word lists, in its order: the first alternative that matches wins, so "girls" leaves an "s". -#}
{% macro reference_anonymised_text(text) -%}
    {%- set whole_words = [
        "he", "she", "her", "his", "him", "hers", "himself", "herself", "hes", "shes", "mr", "mrs", "ms", "man", "male", "bro", "bros",
    ] -%}
    {%- set race_substrings = [
        "african", "middleeastern", "middleeast", "spanishspeaking", "mexico", "spanish", "black", "hispanic", "latinx", "latine",
        "latina", "latino", "latin", "asian", "desi", "european", "europe", "asia", "middle eastern", "arab", "white", "caucasian",
        "arabic", "aapi", "bipoc", "filipin*", "mexic*", "india", "salvador", "cuban", "chinese", "japanese", "korean", "china",
    ] -%}
    {%- set gender_substrings = [
        "female", "genderconforming", "cisgender", "cis", "descriptors", "androgynous", "butch", "effeminate", "feminine", "femme",
        "manly", "masculine", "womanly", "woman", "women", "lady", "ladies", "girl", "mother", "mom", "daughter", "wife", "wives",
        "grandmother", "grandma", "sister", "male", "bros", "guy", "boy", "father", "dad", "son", "husband", "grandfather",
        "grandpa", "brother",
    ] -%}
    {%- set steps = [
        "[^\p{L}\p{N}_\s\p{Z}]",
        "\\b(?:" ~ whole_words | join("|") ~ ")\\b",
        race_substrings | join("|"),
        gender_substrings | join("|"),
    ] -%}
    {%- set expression = namespace(sql="lower(" ~ text ~ ")") -%}
    {%- for step in steps -%}
        {%- set expression.sql = "regexp_replace(" ~ expression.sql ~ ", '" ~ step ~ "', '', 'g')" -%}
    {%- endfor -%}
    {{ expression.sql }}
{%- endmacro %}

{% macro tokens_of_reference_anonymised(text) -%}
    {{ biasledger.split_then_clean(biasledger.reference_anonymised_text(text)) }}
{%- endmacro %}

{% macro tokens_of_reference_vectors(text) -%}
    regexp_extract_all({{ biasledger.reference_anonymised_text(text) }}, '[\p{L}\p{N}_]{2,}')
{%- endmacro %}
