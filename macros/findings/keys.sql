{#- What tells findings apart, as one key: the same for the same question of a run in every build. -#}
{% macro finding_id(run, question) -%}
    {{ key_of([
        run ~ ".run_id", run ~ ".mitigation", question ~ ".measure", question ~ ".scheme", question ~ ".attribute",
        question ~ ".group_name", question ~ ".reference_group", question ~ ".subject",
    ]) }}
{%- endmacro %}
