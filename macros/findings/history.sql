{#-
    The table of that name in the file that was published last, or none. The plugin attaches that file where this one has no history yet:
    on the first build after it was deleted.
-#}
{% macro published_relation(name) %}
    {%- if execute -%}
        {%- do return(adapter.dispatch("published_relation", "biasledger")(name)) -%}
    {%- endif -%}
{% endmacro %}

{% macro default__published_relation(name) %}
    {%- do return(adapter.get_relation(database="published", schema="marts", identifier=name)) -%}
{% endmacro %}

{% macro sparksession__published_relation(name) %}
    {%- do return(adapter.published(name)) -%}
{% endmacro %}

{#- When this build began, UTC. -#}
{% macro build_moment() -%}
    timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S.%f") }}'
{%- endmacro %}
