with

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name as marked_group,
        reference_group
    from {{ ref("int_contrasts") }}
    where
        comparison = 'against_reference'
        -- Whose group nobody knows stands for no group.
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

markers_prompts as (
    select *
    from {{ ref("int_markers_prompts") }}
),

scores as (
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        scheme,
        ratio,
        n_answers
    from {{ ref("int_markers_scores") }}
    where is_assessable
),

texts as (
    select
        run_id,
        prompt_id,
        response_hash,
        has_varied_answers
    from {{ ref("int_markers_texts") }}
),

regard as (
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        scorer,
        negative,
        n_answers
    from {{ ref("int_markers_regard") }}
    -- A classifier has too little to go by.
    where
        not is_short
        and negative is not null
),

outcomes as (
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        'stereotype_ratio' as outcome,
        scheme,
        ratio as outcome_value,
        n_answers
    from scores
    union all by name
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        'negative_regard' as outcome,
        scorer as scheme,
        negative as outcome_value,
        n_answers
    from regard
),

texts_of_groups as (
    select
        markers_prompts.run_id,
        markers_prompts.variant,
        outcomes.outcome,
        outcomes.scheme,
        outcomes.category as domain,
        markers_prompts.attribute,
        contrasts.marked_group,
        contrasts.reference_group,
        markers_prompts.group_name,
        markers_prompts.unit_kind,
        markers_prompts.stratum,
        markers_prompts.question,
        markers_prompts.name_unit,
        markers_prompts.name_cluster,
        outcomes.prompt_id,
        outcomes.response_hash,
        outcomes.outcome_value,
        outcomes.n_answers,
        texts.has_varied_answers,
        count(distinct outcomes.prompt_id) over (
            partition by
                markers_prompts.run_id, markers_prompts.variant, outcomes.outcome, outcomes.scheme, outcomes.category,
                markers_prompts.attribute, contrasts.marked_group, contrasts.reference_group, markers_prompts.group_name
        ) as n_prompts
    from markers_prompts
    inner join contrasts
        on
            markers_prompts.run_id = contrasts.run_id
            and markers_prompts.variant = contrasts.variant
            and markers_prompts.attribute = contrasts.attribute
            and markers_prompts.group_name in (contrasts.marked_group, contrasts.reference_group)
    inner join outcomes
        on
            markers_prompts.run_id = outcomes.run_id
            and markers_prompts.prompt_id = outcomes.prompt_id
    inner join texts
        on
            outcomes.run_id = texts.run_id
            and outcomes.prompt_id = texts.prompt_id
            and outcomes.response_hash = texts.response_hash
),

shared_questions as (
    select
        run_id,
        variant,
        outcome,
        scheme,
        domain,
        attribute,
        marked_group,
        reference_group,
        question
    from texts_of_groups
    group by run_id, variant, outcome, scheme, domain, attribute, marked_group, reference_group, question
    having count(distinct group_name) = 2
),

question_counts as (
    select
        run_id,
        variant,
        outcome,
        scheme,
        domain,
        attribute,
        marked_group,
        reference_group,
        count(*) as n_questions
    from shared_questions
    group by run_id, variant, outcome, scheme, domain, attribute, marked_group, reference_group
),

-- Where a group is one word and was asked several questions, a prompt moves with all its answers, which are alike for
-- what is written in it. Where it was asked one, each trial is an observation.
texts_of_units as (
    select
        texts_of_groups.* replace (
            case
                when texts_of_groups.unit_kind = 'names' then 'names'
                when
                    max(texts_of_groups.n_prompts) over (
                        partition by
                            texts_of_groups.run_id, texts_of_groups.variant, texts_of_groups.outcome,
                            texts_of_groups.scheme, texts_of_groups.domain, texts_of_groups.attribute,
                            texts_of_groups.marked_group, texts_of_groups.reference_group
                    ) > 1
                    then 'prompts'
                else 'answers'
            end as unit_kind
        ),
        -- Names that were asked enough questions are judged by both units: a name with all its answers, and what was
        -- answered about it inside each question.
        texts_of_groups.unit_kind = 'names'
        and coalesce(question_counts.n_questions, 0) >= {{ questions_as_cases() }} as is_by_question
    from texts_of_groups
    left join question_counts
        on
            texts_of_groups.run_id = question_counts.run_id
            and texts_of_groups.variant = question_counts.variant
            and texts_of_groups.outcome = question_counts.outcome
            and texts_of_groups.scheme = question_counts.scheme
            and texts_of_groups.domain = question_counts.domain
            and texts_of_groups.attribute = question_counts.attribute
            and texts_of_groups.marked_group = question_counts.marked_group
            and texts_of_groups.reference_group = question_counts.reference_group
),

trials_of_texts as (
    select
        *,
        if(unit_kind = 'answers', {{ trials_of_text() }}, range(1)) as trials,
        unnest(trials) as trial
    from texts_of_units
),

placed as (
    select
        * exclude (prompt_id, response_hash, name_cluster, n_answers, trials, trial, n_prompts)
        replace (if(is_by_question, concat_ws(' | ', question, stratum), stratum) as stratum),
        concat_ws(' | ', prompt_id, response_hash, trial) as text_unit,
        case
            when is_by_question then concat_ws(' | ', name_unit, question)
            when unit_kind = 'names' then name_unit
            when unit_kind = 'prompts' then prompt_id
            else text_unit
        end as unit,
        case
            when is_by_question then question
            when unit_kind = 'names' then name_cluster
            when unit_kind = 'prompts' then stratum
            else text_unit
        end as cluster,
        -- Inside what a name moves.
        trials_of_texts.stratum as name_stratum,
        n_answers / len(trials) as n_answers
    from trials_of_texts
),

-- A name moves with texts about many questions, so that a group asked more often about one of them would stand out
-- whatever is said of it. Weights give both groups each question equally often, and nothing where one of them never has
-- it: the gap is then the Mantel-Haenszel gap inside questions, and weights are 1 where questions are balanced. Prompts
-- and answers that are units of their own move inside their question anyhow, and so do names judged by question.
weighted as (
    select
        *,
        if(
            is_by_question, 1,
            {{ question_weight("group_name = marked_group", "group_name = reference_group", [
                "run_id", "variant", "outcome", "scheme", "domain", "attribute", "marked_group", "reference_group",
                "question",
            ]) }}
        ) as weight
    from placed
),

question_means as (
    select
        run_id,
        variant,
        outcome,
        scheme,
        domain,
        attribute,
        marked_group,
        reference_group,
        question,
        sum(weight * n_answers order by text_unit) as weight,
        sum(weight * n_answers * outcome_value order by text_unit) as total
    from weighted
    where
        unit_kind = 'names'
        and not is_by_question
        and weight > 0
    group by
        run_id, variant, outcome, scheme, domain, attribute, marked_group, reference_group, question
),

-- What a question yields of anybody is noise between names that were asked different ones. Weighted, both groups'
-- questions have the same mean, so that moving each to the mean of all leaves the groups' means as they are.
question_shifts as (
    select
        *,
        sum(total) over comparison / sum(weight) over comparison - total / weight as shift
    from question_means
    window
        comparison as (
            partition by run_id, variant, outcome, scheme, domain, attribute, marked_group, reference_group
            order by question
            rows between unbounded preceding and unbounded following
        )
),

units as (
    select
        weighted.run_id,
        weighted.variant,
        weighted.outcome,
        weighted.scheme,
        weighted.domain,
        weighted.attribute,
        weighted.marked_group,
        weighted.reference_group,
        weighted.group_name,
        weighted.unit_kind,
        weighted.stratum,
        weighted.unit,
        weighted.cluster,
        if(weighted.is_by_question, weighted.name_unit, null) as name,
        if(weighted.is_by_question, weighted.name_stratum, null) as name_stratum,
        sum(weighted.n_answers order by weighted.text_unit) as n_answers,
        sum(weighted.n_answers * weighted.outcome_value order by weighted.text_unit) as total_of_answers,
        sum(weighted.weight * weighted.n_answers order by weighted.text_unit) as n,
        sum(
            weighted.weight * weighted.n_answers * (weighted.outcome_value + coalesce(question_shifts.shift, 0))
            order by weighted.text_unit
        ) as total
    from weighted
    left join question_shifts
        on
            weighted.run_id = question_shifts.run_id
            and weighted.variant = question_shifts.variant
            and weighted.outcome = question_shifts.outcome
            and weighted.scheme = question_shifts.scheme
            and weighted.domain = question_shifts.domain
            and weighted.attribute = question_shifts.attribute
            and weighted.marked_group = question_shifts.marked_group
            and weighted.reference_group = question_shifts.reference_group
            and weighted.question = question_shifts.question
    group by
        weighted.run_id, weighted.variant, weighted.outcome, weighted.scheme, weighted.domain, weighted.attribute,
        weighted.marked_group, weighted.reference_group, weighted.group_name, weighted.unit_kind, weighted.stratum,
        weighted.unit, weighted.cluster, weighted.is_by_question, weighted.name_unit, weighted.name_stratum
)

select * from units
