{#- The hash of a run's questions without their number, groups and description; runs with the same hash may be compared. -#}
{% macro question_of(spec) -%}
    md5(cast(json_merge_patch({{ spec }}, '{{ tojson(dict.fromkeys(var("keys_ignored_in_comparison") + ["attributes"])) }}') as varchar))
{%- endmacro %}

{#- Why two rows of int_runs, of which n_shared prompts are equal, must not be compared, in words; null where they may. -#}
{% macro incomparable_because(before, after, n_shared="null") -%}
    case
        when {{ before }}.audit <> {{ after }}.audit then 'they are runs of different audits'
        when
            {{ before }}.question <> {{ after }}.question
            and ({{ n_shared }} is null or {{ before }}.answer_form is distinct from {{ after }}.answer_form)
            then 'they were not asked the same questions'
        when {{ before }}.analysis_hash <> {{ after }}.analysis_hash
            then 'the baseline''s answers were read by other rules than today''s'
        when
            {{ before }}.engine_version <> {{ after }}.engine_version
            and not list_has_all({{ var("comparable_engines") }}, [{{ before }}.engine_version, {{ after }}.engine_version])
            then 'the baseline was measured by another version of the measures'
    end
{%- endmacro %}

{#- Texts of a column, by how many there are: the first five, and how many more. -#}
{% macro first_names(column) -%}
    array_to_string(list_slice(list({{ column }} order by {{ column }}), 1, 5), ', ')
    || if(count(*) > 5, ' and ' || (count(*) - 5) || ' more', '')
{%- endmacro %}

{#- Rows that baselines' files bring of one part, as the columns that `fields` names: {"name": "type"}. -#}
{% macro imported_rows(part, fields) -%}
    select
        {% for name, type in fields.items() -%}
        cast(baseline_rows.content ->> '{{ name }}' as {{ type }}) as {{ name }}{{ "," if not loop.last }}
        {% endfor %}
    from {{ ref("int_runs") }} as runs
    inner join {{ ref("stg_ledger__baseline_rows") }} as baseline_rows on runs.fingerprint = baseline_rows.file_hash
    where
        runs.is_imported
        and baseline_rows.part = '{{ part }}'
{%- endmacro %}

{#- The kind, value and range of each member, for a measure that judges a family of categories, levels or lists. -#}
{% macro family_type() -%}
    struct(value double, p_value double, detail varchar, member varchar, interval_low double, interval_high double)[]
{%- endmacro %}

{#-
    How many standard deviations a change or a part of it is from 0, as a normal deviate: Student's t by Wallace (1959), or the share of
    an arm of the interval.
-#}
{% macro change_deviate(size, arm) -%}
    if(
        is_paired,
        (8 * shared_degrees + 1) / (8 * shared_degrees + 3)
        * sqrt(shared_degrees * ln(1 + pow(({{ size }}) / shared_error, 2) / shared_degrees)),
        1.959964 * {{ size }} / {{ arm }}
    )
{%- endmacro %}
