{#-
    Words as markers are sought in them: lower case, every run of characters that are no letters, digits or _ is a separator, and
    each word has two blanks of its own ("  he  said  "), so that neighbouring words share none and plain
    replacement counts every occurrence. These are the borders of \b in the source's snippet. In scripts without spaces each
    letter is a word, so that a marker is found wherever it is.
-#}
{% macro padded_words(text) -%}
    ' ' || replace({{ biasledger.marker_words(text) }}, ' ', '  ') || ' '
{%- endmacro %}

{% macro marker_words(text) -%}
    trim(
        regexp_replace(
            if(
                {{ biasledger.is_unspaced(text) }},
                regexp_replace(lower({{ text }}), '([{{ biasledger.unspaced_letters() }}])', ' \1 ', 'g'),
                lower({{ text }})
            ),
            '[^\p{L}\p{N}_]+', ' ', 'g'
        )
    )
{%- endmacro %}

{#- Tokens between white space, lower case: the source of the reference letters counts in these. -#}
{% macro white_space_tokens(text) -%}
    list_filter(
        regexp_split_to_array(lower({{ text }}), '[\s\p{Z}\x{85}\x{0b}\x{1c}-\x{1f}]+'), lambda token: token <> ''
    )
{%- endmacro %}

{#- How a scheme cuts texts: int_markers_tokens holds both. -#}
{% macro cut_of(scheme) -%}
    if({{ scheme }} = 'substring', 'white_space', 'words')
{%- endmacro %}

{#- Whether a row of markers applies to a text: to its probe, to its category, or to all. -#}
{% macro marker_applies(markers, texts) -%}
    (
        {{ markers }}.probe = {{ texts }}.probe
        or {{ markers }}.category = {{ texts }}.category
        or ({{ markers }}.probe is null and {{ markers }}.category is null)
    )
{%- endmacro %}

{#- English words that hardly describe anybody. Pronouns of persons are not among them: they are the first markers there are. -#}
{% macro function_words() -%}
    [
        'a', 'about', 'above', 'after', 'again', 'all', 'also', 'am', 'an', 'and', 'any', 'are', 'as', 'at', 'be', 'because', 'been',
        'before', 'being', 'below', 'between', 'but', 'by', 'can', 'could', 'd', 'did', 'do', 'does', 'doing', 'down', 'during',
        'each', 'even', 'ever', 'few', 'for', 'from', 'further', 'had', 'has', 'have', 'having', 'here', 'how', 'i', 'if', 'in',
        'into', 'is', 'it', 'its', 'itself', 'just', 'll', 'm', 'many', 'may', 'me', 'might', 'more', 'most', 'much', 'must', 'my',
        'no', 'nor', 'not', 'now', 'of', 'off', 'often', 'on', 'once', 'one', 'only', 'or', 'other', 'others', 'our', 'ours', 'out',
        'over', 'own', 're', 's', 'same', 'shall', 'should', 'so', 'some', 'such', 't', 'than', 'that', 'the', 'their', 'theirs',
        'them', 'themselves', 'then', 'there', 'these', 'they', 'this', 'those', 'through', 'to', 'too', 'under', 'until', 'up',
        'us', 've', 'very', 'was', 'we', 'were', 'what', 'when', 'where', 'which', 'while', 'who', 'whom', 'whose', 'why', 'will',
        'with', 'within', 'without', 'would', 'yet', 'you', 'your', 'yours',
    ]
{%- endmacro %}
