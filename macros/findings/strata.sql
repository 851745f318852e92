{#- Whether the gap that is judged, the one within strata, differs from the plain one as far as so many decimals show. -#}
{% macro differs_within_strata(adjusted, gap, decimals) -%}
    coalesce(abs({{ adjusted }} - {{ gap }}) >= pow(10, -{{ decimals }}), false)
{%- endmacro %}

{#- The end of a sentence on two shares: the gap that is judged, where it is not the difference of the two. -#}
{% macro percentage_points_within_strata(adjusted, gap) -%}
    if(
        {{ differs_within_strata(adjusted, gap, 3) }},
        printf(
            ': %.1f percentage points %s where like is compared with like',
            abs(100 * {{ adjusted }}), {{ way_of(adjusted, "more", "less") }}
        ), ''
    )
{%- endmacro %}
