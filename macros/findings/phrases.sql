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

{#- An attribute, which may be several crossed ones: race and gender. -#}
{% macro attribute_in_words(attribute) -%}
    replace(replace({{ attribute }}, '*', ' and '), '_', ' ')
{%- endmacro %}

{#- A number of a measure in the unit that people read it in: 12.4 points. Needs the columns of dim_measures that say how. -#}
{% macro in_display_unit(value) -%}
    {%- set displayed = "(display_factor * if(is_read_as_percent, exp(" ~ value ~ ") - 1, " ~ value ~ ") + 0)" -%}
    {%- set as_text -%}
        printf(
            case when abs({{ displayed }}) >= 99.5 then '%.0f' when is_read_as_percent then '%.2g' else '%.3g' end,
            round({{ displayed }}, 9) + 0
        )
    {%- endset -%}
    {{ as_text }} || if({{ as_text }} = '1', regexp_replace(coalesce(display_unit, ''), 's$', ''), coalesce(display_unit, ''))
{%- endmacro %}

{#- So many of what is counted: 3 names a group, 1 name a group. `one`: what one of the audit's own cases is called. -#}
{% macro counted_of(n, counted, one) -%}
    printf(
        '%s %s', {{ thousands(n) }},
        if(
            {{ n }} = 1,
            coalesce(
                {{ one }},
                regexp_replace(
                    replace({{ counted }}, 'people', 'person'),
                    '\b(answer|case|conversation|name|probe|prompt|question|ranking|subject|template|trial|word|wording)s\b',
                    '\1', 'g'
                )
            ),
            {{ counted }}
        )
    )
{%- endmacro %}

{#-
    A text of a finding with the words of its audit in place of {item}, {items}, {case}, {cases}, {outcome}, {unit}, {attribute},
    {category} and those for groups.
-#}
{% macro in_words_of_audit(text) -%}
    {%- set replaced = namespace(text=text) -%}
    {%- for word in ["item", "items", "case", "cases", "outcome", "unit"] -%}
        {%- set replaced.text = "replace(" ~ replaced.text ~ ", '{" ~ word ~ "}', coalesce(noun_" ~ word ~ ", ''))" -%}
    {%- endfor -%}
    {%- set replaced.text = "replace(" ~ replaced.text ~ ", '{attribute}', " ~ attribute_in_words("attribute") ~ ")" -%}
    {%- set replaced.text =
        "replace(" ~ replaced.text ~ ", '{category}', coalesce(', in the category ' || nullif(subject, ''), ''))"
    -%}
    {%- for word in ["group", "reference"] -%}
        {%- set phrase = word ~ "_in_words" -%}
        {%- set replaced.text = "replace(" ~ replaced.text ~ ", '{" ~ word ~ "}', coalesce(" ~ phrase ~ ", ''))" -%}
        {%- set replaced.text =
            "replace(" ~ replaced.text ~ ", '{about_" ~ word ~ "}', coalesce(" ~ about_group(phrase) ~ ", ''))"
        -%}
    {%- endfor -%}
    {{ replaced.text }}
{%- endmacro %}

{#- A clause as a sentence begins. -#}
{% macro capitalized(clause) -%}
    upper(left({{ clause }}, 1)) || substr({{ clause }}, 2)
{%- endmacro %}

{#- So many points of 100, as whole ones: 1 point of 100. -#}
{% macro points_of_100(share) -%}
    printf(if(round(100 * {{ share }}) = 1, '%.0f point of 100', '%.0f points of 100'), 100 * {{ share }})
{%- endmacro %}

{#- The first of several words, in brackets; empty without words. -#}
{% macro examples_of(words, n) -%}
    if({{ n }} > 0, ' (' || array_to_string({{ words }}, ', ') || if({{ n }} > len({{ words }}), ', …)', ')'), '')
{%- endmacro %}

{#- A whole number with its thousands separated: 1,811. -#}
{% macro thousands(n) -%}
    printf('%,d', cast({{ n }} as bigint))
{%- endmacro %}

{#- How many there are of what a noun names: 1 answer, 1,811 answers. -#}
{% macro count_of(n, noun) -%}
    if({{ n }} = 1, '1 {{ noun }}', {{ thousands(n) }} || ' {{ noun }}s')
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
