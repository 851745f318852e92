{#- Several of what a noun names: washing machines, companies, boxes. -#}
{% macro plural_of(noun) -%}
    case
        when regexp_matches({{ noun }}, '[^aeiou]y$') then left({{ noun }}, length({{ noun }}) - 1) || 'ies'
        when regexp_matches({{ noun }}, '(s|x|z|ch|sh)$') then {{ noun }} || 'es'
        else {{ noun }} || 's'
    end
{%- endmacro %}

{#-
    A group as people are spoken of: Black women. "people whose origin is Türkisch" where English has no adjective, as the
    name may be that of a place or in another language. Null for a placeholder such as (all).
-#}
{% macro group_in_words(attribute, group_name) -%}
    {%- set women, men = "female|woman|women|girl|girls", "male|man|men|boy|boys" -%}
    {%- set adjectives -%}
        white|black|asian|latino|latina|latine|hispanic|caucasian|arab|indigenous|middle[- ]eastern|(african|native|asian)[- ]american
        |african|american|european|brazilian|british|chinese|french|german|indian|italian|japanese|mexican|nigerian|polish|russian
        |turkish|buddhist|christian|hindu|jewish|muslim|sikh|nonreligious|young|younger|middle-aged|old|older|nondisabled|disabled
        |blind|deaf|autistic|straight|gay|lesbian|bisexual|nonbinary|transgender|slim|thin|fat|plus-size
    {%- endset -%}
    {%- set adjective = "^(" ~ adjectives | replace(" ", "") | replace("\n", "") | replace("[-]", "[- ]") ~ ")$" -%}
    {%- set gender = "(^|\\*)(" -%}
    {%- set parts = "string_split(" ~ group_name ~ ", '*')" -%}
    {%- set is_of_things = "regexp_matches(lower(" ~ attribute ~ "), 'colou?r')" -%}
    case
        when {{ group_name }} = '(neutral)' then 'nobody in particular'
        when {{ group_name }} = '(others)' then 'all others'
        when left({{ group_name }}, 1) = '(' then null
        else concat_ws(
            ' ',
            nullif(
                array_to_string(
                    list_filter(
                        {{ parts }}, lambda part: regexp_matches(lower(part), '{{ adjective }}') and not {{ is_of_things }}
                    ), ' '
                ), ''
            ),
            case
                when regexp_matches(lower({{ group_name }}), '{{ gender }}{{ women }})($|\*)') then 'women'
                when regexp_matches(lower({{ group_name }}), '{{ gender }}{{ men }})($|\*)') then 'men'
                else 'people'
            end,
            'whose ' || nullif(
                array_to_string(
                    list_filter(
                        list_transform(
                            {{ parts }},
                            lambda part, position: if(
                                regexp_matches(lower(part), '{{ adjective }}|^({{ women }}|{{ men }})$')
                                and not {{ is_of_things }},
                                null, replace(string_split({{ attribute }}, '*')[position], '_', ' ') || ' is ' || part
                            )
                        ), lambda one: one is not null
                    ), ' and whose '
                ), ''
            )
        )
    end
{%- endmacro %}

{#- A phrase for answers about a group: "about Black women", or "where origin is Türkisch" if it may not be people. -#}
{% macro about_group(in_words) -%}
    if(
        starts_with({{ in_words }}, 'people whose '),
        'where ' || replace(substr({{ in_words }}, 14), ' and whose ', ' and '),
        'about ' || {{ in_words }}
    )
{%- endmacro %}

{#- A text of a finding with the words of its audit in place of {item}, {items}, {case}, {cases}, {outcome}, {unit} and those for groups. -#}
{% macro in_words_of_audit(text) -%}
    {%- set replaced = namespace(text=text) -%}
    {%- for word in ["item", "items", "case", "cases", "outcome", "unit"] -%}
        {%- set replaced.text = "replace(" ~ replaced.text ~ ", '{" ~ word ~ "}', coalesce(noun_" ~ word ~ ", ''))" -%}
    {%- endfor -%}
    {%- for word in ["group", "reference"] -%}
        {%- set phrase = word ~ "_in_words" -%}
        {%- set replaced.text = "replace(" ~ replaced.text ~ ", '{" ~ word ~ "}', coalesce(" ~ phrase ~ ", ''))" -%}
        {%- set replaced.text =
            "replace(" ~ replaced.text ~ ", '{about_" ~ word ~ "}', coalesce(" ~ about_group(phrase) ~ ", ''))"
        -%}
    {%- endfor -%}
    {{ replaced.text }}
{%- endmacro %}

{#- The first of several words, in brackets; empty without words. -#}
{% macro examples_of(words, n) -%}
    if({{ n }} > 0, ' (' || array_to_string({{ words }}, ', ') || if({{ n }} > len({{ words }}), ', …)', ')'), '')
{%- endmacro %}

{#- The direction in words of a group's difference from the reference. -#}
{% macro way_of(gap, positive="higher", negative="lower") -%}
    if({{ gap }} < 0, '{{ negative }}', '{{ positive }}')
{%- endmacro %}

{#- A p of two significant digits, rounded up, and of 1e-06 at least, as biasledger.numbers.probability writes it: for printf. -#}
{% macro rounded_p(p) -%}
    {%- set magnitude = "pow(10, 1 - floor(log10(" ~ p ~ ")))" -%}
    if({{ p }} < 1e-6, 1e-6, ceil({{ p }} * {{ magnitude }} * (1 - 1e-12)) / {{ magnitude }})
{%- endmacro %}
