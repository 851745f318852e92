{{ config(materialized="by_run") }}

with

runs as (
    select
        run_id,
        origin,
        parameters,
        spec ->> '$.answer.kind' as answer_kind
    from {{ run_rows("stg_ledger__runs") }}
),

-- Each row of such a file names a group of every attribute, or says that it names none; lists have neutral prompts.
runs_of_people as (
    select run_id
    from runs
    where
        origin = 'imported'
        and answer_kind <> 'list'
        and not json_exists(parameters, '$.columns.attribute')
),

started_events as (
    select
        run_id,
        detail
    from {{ run_rows("stg_ledger__run_events") }}
    where event = 'started'
),

run_attributes as (
    select
        run_id,
        attribute,
        components,
        kind
    from {{ ref("int_run_attributes") }}
    where kind <> 'same'
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name,
        {{ is_unknown_group("group_name") }} as is_unknown
    from {{ run_rows("stg_ledger__prompt_attributes") }}
),

erasures as (
    select distinct
        run_id,
        prompt_id,
        trial
    from {{ run_rows("stg_ledger__erasures") }}
),

responses as (
    select
        run_id,
        prompt_id,
        trial,
        status,
        response_text,
        read_by,
        error,
        weight
    from {{ run_rows("stg_ledger__responses") }}
    where is_judged is not false
    qualify row_number() over (partition by run_id, prompt_id, trial order by attempt desc) = 1
),

-- Last attempts: earlier ones were asked again.
answers as (
    select
        responses.run_id,
        responses.prompt_id,
        responses.weight,
        responses.error,
        case
            when erasures.run_id is not null then 'erased'
            when responses.status = 'ok' then null
            when
                runs.origin = 'imported'
                and (
                    coalesce(responses.read_by, '') = 'missing'
                    or (responses.status = 'malformed' and coalesce(responses.response_text, '') = '')
                )
                then 'missing'
            else responses.status
        end as reason
    from responses
    inner join runs on responses.run_id = runs.run_id
    left join erasures
        on
            responses.run_id = erasures.run_id
            and responses.prompt_id = erasures.prompt_id
            and responses.trial = erasures.trial
),

run_answers as (
    select
        run_id,
        sum(weight) as n_answers
    from answers
    group by run_id
),

listed_cells as (
    select
        run_id,
        unnest(
            from_json(detail -> 'without_group', '[{"attribute": "VARCHAR", "cell": "VARCHAR", "n": "BIGINT"}]')
        ) as listed
    from started_events
    where json_exists(detail, '$.without_group')
),

-- The cells of a file are known for runs imported by rows.
cells as (
    select
        listed_cells.run_id,
        listed_cells.listed.attribute,
        listed_cells.listed.cell as stated_as,
        listed_cells.listed.n
    from listed_cells
    inner join runs_of_people on listed_cells.run_id = runs_of_people.run_id
),

cells_without_group as (
    select
        run_id,
        attribute,
        case
            when {{ is_undisclosed_group("stated_as") }} then 'undisclosed'
            when stated_as = '' or not {{ is_unknown_group("stated_as") }} then 'not_stated'
            else 'unknown'
        end as reason,
        stated_as,
        n
    from cells
),

unknown_groups as (
    select
        answers.run_id,
        prompt_attributes.attribute,
        if({{ is_undisclosed_group("prompt_attributes.group_name") }}, 'undisclosed', 'unknown') as reason,
        prompt_attributes.group_name as stated_as,
        sum(answers.weight) as n
    from answers
    inner join prompt_attributes
        on
            answers.run_id = prompt_attributes.run_id
            and answers.prompt_id = prompt_attributes.prompt_id
    where prompt_attributes.is_unknown
    group by answers.run_id, prompt_attributes.attribute, prompt_attributes.group_name
),

known_components as (
    select
        run_attributes.run_id,
        prompt_attributes.prompt_id,
        run_attributes.attribute,
        count(distinct prompt_attributes.attribute) as n_stated,
        count(distinct prompt_attributes.attribute) filter (where not prompt_attributes.is_unknown) as n_known
    from run_attributes
    inner join prompt_attributes
        on
            run_attributes.run_id = prompt_attributes.run_id
            and list_contains(run_attributes.components, prompt_attributes.attribute)
    group by run_attributes.run_id, prompt_attributes.prompt_id, run_attributes.attribute
),

-- An intersection leaves out people unknown in one attribute, an attribute those whose cell was not stored.
people_without_group as (
    select
        answers.run_id,
        run_attributes.attribute,
        if(run_attributes.kind = 'crossed', 'component_unknown', 'not_stated') as reason,
        '' as stated_as,
        sum(answers.weight) as n
    from answers
    inner join runs_of_people on answers.run_id = runs_of_people.run_id
    inner join run_attributes on answers.run_id = run_attributes.run_id
    left join known_components
        on
            answers.run_id = known_components.run_id
            and answers.prompt_id = known_components.prompt_id
            and run_attributes.attribute = known_components.attribute
    where
        coalesce(if(run_attributes.kind = 'crossed', known_components.n_known, known_components.n_stated), 0)
        < len(run_attributes.components)
        and not exists (
            select 1
            from cells
            where
                cells.run_id = run_attributes.run_id
                and cells.attribute = run_attributes.attribute
        )
    group by answers.run_id, run_attributes.attribute, run_attributes.kind
),

small_groups as (
    {% if "decisions" in methods() %}
        select
            run_id,
            attribute,
            'small_group' as reason,
            group_name as stated_as,
            sum(n_people) as n
        from {{ run_rows("fct_decisions_left_out") }}
        where
            mitigation = 'plain'
            and reason like 'less than %'
        group by run_id, attribute, group_name
    {% else %}
        select
            run_id,
            attribute,
            reason,
            stated_as,
            n
        from unknown_groups
        where false
    {% endif %}
),

without_outcome as (
    select
        run_id,
        '' as attribute,
        reason,
        if(reason = 'missing', coalesce(error, ''), '') as stated_as,
        sum(weight) as n
    from answers
    where reason is not null
    group by run_id, reason, if(reason = 'missing', coalesce(error, ''), '')
),

repeated_rows as (
    select
        run_id,
        '' as attribute,
        unnest(['repeated', 'dropped']) as reason,
        '' as stated_as,
        unnest([
            cast(detail ->> '$.repeated_rows.counted' as bigint), cast(detail ->> '$.repeated_rows.dropped' as bigint)
        ]) as n
    from started_events
),

counted as (
    select * from cells_without_group
    union all by name
    select * from unknown_groups
    union all by name
    select * from people_without_group
    union all by name
    select * from small_groups
    union all by name
    select * from without_outcome
    union all by name
    select * from repeated_rows
),

exclusions as (
    select
        counted.run_id,
        counted.attribute,
        counted.reason,
        counted.stated_as,
        counted.n,
        if(counted.reason = 'dropped', null, counted.n / run_answers.n_answers) as share,
        counted.reason <> 'repeated' as is_left_out,
        case counted.reason
            when 'not_stated' then 'The row names no group: left out of findings on the attribute.'
            when 'undisclosed' then 'The group was not disclosed: left out of findings on the attribute.'
            when 'unknown' then 'The group is not known: left out of findings on the attribute.'
            when 'component_unknown'
                then 'The group of one of the attributes is not known: left out of findings on the intersection.'
            when 'small_group' then 'The group has too small a share: left out of impact ratios, and shown.'
            when 'missing' then 'The file has no outcome: left out of findings on the outcome.'
            when 'unread' then 'No rule finds the outcome in the answer: left out; verdicts hold whatever it was.'
            when 'malformed' then 'The answer lacks the form asked for: left out, and compared as an answer gap.'
            when 'refused' then 'The answer is a refusal: left out, and compared as an answer gap.'
            when 'truncated' then 'The answer was cut off: left out, and compared as an answer gap.'
            when 'error' then 'The call failed: left out, and compared as an answer gap.'
            when 'erased' then 'The text was erased: left out.'
            when 'repeated' then 'The row repeats an earlier row of the file: counted as a further answer.'
            when 'dropped' then 'The row repeats an earlier row of the file: left out, as import.duplicates says.'
        end as why
    from counted
    inner join run_answers on counted.run_id = run_answers.run_id
    where counted.n > 0
)

{{ contracted("exclusions") }}
