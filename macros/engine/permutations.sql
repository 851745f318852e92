{#-
    How many label permutations to draw. Holm's smallest step is alpha / m for m findings judged together: with fewer than m / alpha
    draws no alarm could fire. `draws_needed` is m times a margin: ten where the audit fails, two where it is only a warning. `least`
    multiplies the smallest number that is ever drawn.
-#}
{% macro permutations_for(draws_needed, least=1) -%}
    {%- if var("permutations") -%}
        cast(
            greatest({{ least }} * {{ number_of("min_permutations") }}, ceil({{ draws_needed }} / {{ number_of("alpha") }}) - 1) as integer
        )
    {%- else -%}
        0
    {%- endif -%}
{%- endmacro %}

{#- How many are drawn where no finding hangs on p: a quarter of the smallest number that one gets. -#}
{% macro permutations_of_a_description() -%}
    {%- if var("permutations") -%}
        cast(greatest(1, ceil(({{ number_of("min_permutations") }} + 1) / 4) - 1) as integer)
    {%- else -%}
        0
    {%- endif -%}
{%- endmacro %}
