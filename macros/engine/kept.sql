{# A table whose rows stand as long as what they were made of: `kept_by` names the column that says what that was, `kept_in` the model
   that says what it is now. Rows of a state that is no longer are deleted, and the model's query gives those of states that have none:
   it asks for `new_runs`, or for what its own table lacks. Like `rebuilt`, in one statement, which rolls back where it fails. #}
{% materialization kept, adapter="duckdb", supported_languages=["sql"] %}
    {%- set target = this.incorporate(type="table") -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set key = config.require("kept_by") -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- if existing is not none and existing.type != "table" %}
        {%- call statement("drop") -%} drop {{ existing.type }} if exists {{ existing }} {%- endcall -%}
    {%- endif -%}
    {%- call statement("main") -%}
        {%- if is_kept(key) -%}
            delete from {{ target }}
            where {{ key }} not in (select states.{{ key }} from {{ ref(config.require("kept_in")) }} as states);
            insert into {{ target }} by name ({{ compiled_code }})
        {%- else -%}
            create or replace table {{ target }} as ({{ compiled_code }})
        {%- endif -%}
    {%- endcall -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {%- do adapter.commit() -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({"relations": [target]}) }}
{% endmaterialization %}

{#-
    Whether rows of an earlier build are there to be kept, and say by `key` what they were made of. A state says what the ledger holds,
    not what a model's other parents were made of: rows are kept only where `biasledger build` knows that its last build was a whole one
    that came to its end and that nothing else has written since. By hand all is made anew. So it is where a project has the model made
    in another way, which would put the new rows in place of all.
-#}
{% macro is_kept(key) -%}
    {%- if not execute or this is none or should_full_refresh() or config.get("materialized") not in ["kept", "incremental"] -%}
        {{ return(false) }}
    {%- endif -%}
    {#- A room that the last build left out has tables of any build before. What belongs to no room was built. -#}
    {%- set rooms_left = env_var("BIASLEDGER_KEPT", "").split() -%}
    {%- if not rooms_left or (config.get("group") in rooms() and config.get("group") not in rooms_left) -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- if existing is none or existing.type != "table" -%}
        {{ return(false) }}
    {%- endif -%}
    {#- A model of ours has its key: where models are others than those of the last build, all tables are made anew. Of a
        project's own nobody says so. -#}
    {{ return(model.package_name == "biasledger" or key in adapter.get_columns_in_relation(existing) | map(attribute="name")) }}
{%- endmacro %}

{#-
    The runs of which the model's table lacks something that `states` has now, told by `key`; none, the value, where no table is kept.
    They are asked for beforehand, so that a query names them: what it reads of large tables then is read of these runs alone.
-#}
{% macro new_runs(states, key="run_state") -%}
    {%- if not is_kept(key) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set found = run_query(
        "select distinct states.run_id from " ~ states ~ " as states where states." ~ key ~ " not in (select distinct kept." ~ key ~ " from "
        ~ this ~ " as kept where kept." ~ key ~ " is not null) order by states.run_id"
    ) -%}
    {{ return(found.columns[0].values() | list) }}
{%- endmacro %}

{#- Whether the model's table has no row of this key, given what `new_runs` said of the same. -#}
{% macro is_lacking(key, runs) -%}
    {%- if runs is none -%}
        true
    {%- else -%}
        {{ key }} not in (select distinct kept.{{ key }} from {{ this }} as kept)
    {%- endif -%}
{%- endmacro %}

{#- Whether a row is of one of these runs, as of `new_runs`. -#}
{% macro is_of_runs(column, runs) -%}
    {%- if runs is none -%}
        true
    {%- elif runs -%}
        {{ column }} in ({% for run in runs %}'{{ run | replace("'", "''") }}'{{ ", " if not loop.last }}{% endfor %})
    {%- else -%}
        false
    {%- endif -%}
{%- endmacro %}
