{#- Whether a row of `judged` has an exception that has not expired. -#}
{% macro is_live_exception(judged) -%}
    exists (
        select 1
        from {{ ref("int_findings_exceptions") }} as live_exceptions
        where
            live_exceptions.audit = {{ judged }}.audit
            and live_exceptions.target in ({{ judged }}.target, '*')
            and live_exceptions.measure = {{ judged }}.measure
            and live_exceptions.attribute = {{ judged }}.attribute
            and live_exceptions.group_name = {{ judged }}.group_name
            and live_exceptions.subject in ({{ judged }}.subject, '*')
    )
{%- endmacro %}
