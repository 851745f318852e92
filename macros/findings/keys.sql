{#- The key of a finding: the same for the same question of a run in every build. -#}
{% macro finding_id(run, question) -%}
    {{ key_of([
        run ~ ".run_id", run ~ ".mitigation", question ~ ".measure", question ~ ".scheme", question ~ ".attribute",
        question ~ ".group_name", question ~ ".reference_group", question ~ ".subject",
    ]) }}
{%- endmacro %}
