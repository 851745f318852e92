{#- Units, strata and clusters of a comparison as integers from 0. They follow the content of a run, so that its numbers do not depend
    on what else the ledger holds. -#}
{% macro code_in_comparison(columns, relation="comparisons") -%}
    cast(dense_rank() over (partition by {{ relation }}.comparison_key order by {{ columns }}) - 1 as integer)
{%- endmacro %}
