{# A table whose rows stand as long as what they were made of: `kept_by` names the column that says what that was, and `kept_in` the
   model that says what it is now; `told_by` names the column of both that rows are told by, where the table does not have the
   first. `with_settings` says that it depends on settings, too. Rows of a state that is no longer are deleted, and the model's query
   gives those of states that were not made yet: it asks for `new_runs`, or for what `is_lacking`. Which states were made is written
   down beside (`kept_states`), as many have no rows; not by hand, where nothing is kept. Like `rebuilt`, in one statement, which
   rolls back where it fails. #}
{% materialization kept, adapter="duckdb", supported_languages=["sql"] %}
    {%- set target = this.incorporate(type="table") -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set key = config.require("kept_by") -%}
    {%- set told = config.get("told_by", key) -%}
    {%- set states = ref(config.require("kept_in")) -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- if existing is not none and existing.type != "table" %}
        {%- call statement("drop") -%} drop {{ existing.type }} if exists {{ existing }} {%- endcall -%}
    {%- endif -%}
    {%- call statement("main") -%}
        {%- set writes_down = env_var("BIASLEDGER_PUBLISHED", "") %}
        {% if writes_down %}
            delete from {{ kept_states() }}
            where
                model = '{{ model.unique_id }}'
                {% if is_kept(key) -%} and state not in (select cast(states.{{ key }} as varchar) from {{ states }} as states) {%- endif %};
        {% endif %}
        {% if is_kept(key) -%}
            delete from {{ target }} where cast({{ told }} as varchar) not in ({{ made_states("told") }});
            insert into {{ target }} by name ({{ compiled_code }});
        {%- else -%}
            {{ made_anew(target, compiled_code) }};
        {%- endif %}
        {% if writes_down %}
            insert into {{ kept_states() }}
            select distinct
                '{{ model.unique_id }}',
                cast(states.{{ key }} as varchar) as state,
                cast(states.{{ told }} as varchar),
                '{{ invocation_id }}'
            from {{ states }} as states
            where cast(states.{{ key }} as varchar) not in ({{ made_states("state") }})
        {% endif %}
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
    {#- A hook would meet rows that it has met before. -#}
    {%- if model.config.get("pre-hook") or model.config.get("post-hook") -%}
        {{ return(false) }}
    {%- endif -%}
    {#- What depends on thresholds or variables, too, is made anew with these. -#}
    {%- if config.get("with_settings") and not env_var("BIASLEDGER_STANDS", "") -%}
        {{ return(false) }}
    {%- endif -%}
    {#- A method that the last build left out has tables of an earlier build. Models of no method were built. -#}
    {%- set methods_left = env_var("BIASLEDGER_KEPT", "").split() -%}
    {%- if not methods_left or (config.get("group") in methods() and config.get("group") not in methods_left) -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- if existing is none or existing.type != "table" -%}
        {{ return(false) }}
    {%- endif -%}
    {#- A model of ours has its key: where models are others than those of the last build, all tables are made anew. Of a
        project's own nobody says so. -#}
    {{ return(model.package_name == "biasledger" or config.get("told_by", key) in adapter.get_columns_in_relation(existing) | map(attribute="name")) }}
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
        "select distinct states.run_id from " ~ states ~ " as states where " ~ _was_not_made("states." ~ key, key) ~ " order by states.run_id"
    ) -%}
    {{ return(found.columns[0].values() | list) }}
{%- endmacro %}

{#-
    The runs of which a kept model made rows in this build, for a table that is appended to; none, the value, where its rows of an earlier
    build may be lacking there, or where the model is not kept, or not told by runs. `states` is what it is kept in.
-#}
{% macro runs_made_now(name, states) -%}
    {%- if not is_incremental() or not env_var("BIASLEDGER_KEPT", "") -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set found = run_query(
        "select states.run_id, coalesce(bool_or(made.build = '" ~ invocation_id ~ "'), false), count(made.told) from " ~ states
        ~ " as states left join " ~ kept_states() ~ " as made on made.model = 'model.biasledger." ~ name
        ~ "' and states.run_id = made.told group by states.run_id order by states.run_id"
    ) -%}
    {%- set runs = [] -%}
    {%- for run, is_new, n in found.rows -%}
        {%- if not n -%}
            {{ return(none) }}
        {%- endif -%}
        {%- do runs.append(run) if is_new -%}
    {%- endfor -%}
    {{ return(runs) }}
{%- endmacro %}

{#- Whether nothing was made of this key, given what `new_runs` said of the same. -#}
{% macro is_lacking(key, runs) -%}
    {%- if runs is none -%}
        true
    {%- else -%}
        {{ _was_not_made(key, key) }}
    {%- endif -%}
{%- endmacro %}

{%- macro _was_not_made(value, key) -%}
    {%- if config.get("materialized") == "kept" -%}
        cast({{ value }} as varchar) not in ({{ made_states("state") }})
    {%- else -%}
        {{ value }} not in (select distinct kept.{{ key }} from {{ this }} as kept where kept.{{ key }} is not null)
    {%- endif -%}
{%- endmacro -%}

{#- What kept models were made of: their ids, states, what their rows are told by, and the build that made them. See the plugin. -#}
{% macro kept_states() -%}
    "{{ this.database }}".main.kept_states
{%- endmacro %}

{%- macro made_states(column) -%}
    select made.{{ column }} from {{ kept_states() }} as made where made.model = '{{ model.unique_id }}'
{%- endmacro -%}

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
