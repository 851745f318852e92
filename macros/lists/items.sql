{#- Parsing schemes of lists: ours, and the reference code's, whose published numbers it reproduces. -#}

{#-
    Return the item for comparisons: lower case without accents, bracketed parts, punctuation and a leading article. An
    item that this would leave empty ("(What's the Story)", "!!!") stays as written.
-#}
{% macro normalised_item(item) -%}
    coalesce(
        nullif(
            regexp_replace(
                trim(regexp_replace(
                    regexp_replace(
                        regexp_replace(
                            replace(lower(strip_accents({{ item }})), '&', ' and '), '\([^)]*\)|\[[^\]]*\]', ' ', 'g'
                        ),
                        '[''’"“”`´.,!?;:…*_]', '', 'g'
                    ),
                    '[^\p{L}\p{N}]+', ' ', 'g'
                )),
                '^(?:the|an?|l[ae]|les|une?|el|l[oa]s|una) +', ''
            ),
            ''
        ),
        lower(trim({{ item }}))
    )
{%- endmacro %}

{#-
    The items of a text as the code of Sah et al. (2026, built on FaiRLLM) cuts them: line breaks removed, split at
    "digits dot space", lower case, cut at the first hyphen, a part in double quotes alone kept, bracketed parts, spaces
    and quotes removed. Empty results stay items, as there.
-#}
{% macro reference_items(text) -%}
    list_transform(
        list_transform(
            -- Python, in which that code is written, lowers this one letter to two characters.
            regexp_split_to_array(replace(lower(replace({{ text }}, 'İ', 'i̇')), chr(10), ''), '\d+\. ')[2:],
            lambda piece: split_part(piece, '-', 1)
        ),
        lambda piece: regexp_replace(
            case
                when regexp_matches(piece, '".*?"') then regexp_extract(piece, '"(.*?)"', 1)
                else piece
            end,
            '\(.*?\)|[ "'']', '', 'g'
        )
    )
{%- endmacro %}

{% macro list_items(scheme, answer_text, response_text) -%}
    {%- if scheme == "items" -%}
        list_transform(string_split({{ answer_text }}, chr(10)), lambda item: {{ normalised_item("item") }})
    {%- else -%}
        {{ reference_items(response_text) }}
    {%- endif -%}
{%- endmacro %}

{#-
    Count the pairs of a list in ascending order. Given the second list's places of the shared items, in the order of
    the first list, these are the pairs that both lists order alike.
-#}
{% macro n_ascending_pairs(places) -%}
    list_sum(
        list_transform(
            {{ places }},
            lambda place, position: len(
                list_filter({{ places }}[position + 1:], lambda later: later > place)
            )
        )
    )
{%- endmacro %}
