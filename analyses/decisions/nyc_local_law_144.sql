-- How large are the selection rates and impact ratios in the form of New York City's Local Law 144?
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

-- Rules of the City of New York, title 6, 5-300 to 5-304: by sex, by race and ethnicity, and by both; a category's
-- rate over that of the category selected (or scored) most. A scoring rate is the share above the median score of the
-- whole sample. A category under 2 % of the data may be left out of impact ratios, with a justification, and its
-- number and rate are still published: analysis.decisions.smallest_share says which share, and 0 leaves out none. Those
-- whose category nobody knows are counted next to the table: of the whole audit, and of this part of it. Where the
-- audit has no intersections, people of whom neither is known count twice.
-- Intervals are 95 %: Wilson's of rates, and of each ratio by itself. Numbers are of decisions: the same resume asked
-- about twice counts twice.
with

rates as (
    select *
    from {{ ref("fct_decision_rates") }}
    where mitigation = 'plain'
),

attributes as (
    select distinct
        attribute,
        '*' || lower(attribute) || '*' as padded_attribute
    from rates
),

runs as (
    select
        run_id,
        audit,
        target,
        origin,
        started_at
    from {{ ref("dim_runs") }}
),

scored_runs as (
    select
        run_id,
        max(case when score is not null then 1 else 0 end) = 1 as has_scores
    from {{ ref("fct_predictions") }}
    group by run_id
),

named as (
    select
        *,
        strpos(attribute, '*') > 0 as is_crossed,
        regexp_matches(
            padded_attribute,
            '[ *_/-](sex|gender|geschlecht|sexe|genre|sexo|género|genere|gênero|geslacht|cinsiyet)[ *_/-]'
        ) as is_by_sex,
        regexp_matches(
            padded_attribute,
            '[ *_/-](race|ethnicity|ethnic group|ethnie|ethnizität|herkunft|raza|etnia|raça|etnicidad)[ *_/-]'
        ) as is_by_race
    from attributes
),

described as (
    select
        *,
        case
            when is_by_sex and is_by_race then 3
            when is_by_race and not is_crossed then 2
            when is_by_sex and not is_crossed then 1
        end as part
    from named
),

parts as (
    select
        rates.*,
        described.part
    from rates
    inner join described on rates.attribute = described.attribute
),

unknown_categories as (
    select
        left_out.run_id,
        left_out.domain,
        left_out.attribute,
        described.part,
        sum(left_out.n_people) as n_people
    from {{ ref("fct_decisions_left_out") }} as left_out
    inner join described on left_out.attribute = described.attribute
    where
        left_out.mitigation = 'plain'
        and left_out.group_name = ''
        and described.part is not null
    group by left_out.run_id, left_out.domain, left_out.attribute, described.part
),

unknown_in_all as (
    select
        run_id,
        domain,
        coalesce(max(n_people) filter (where part = 3), sum(n_people)) as n_people
    from unknown_categories
    group by run_id, domain
)

select
    runs.audit,
    runs.target,
    parts.run_id,
    parts.domain as job,
    case parts.part
        when 1 then 'Sex categories'
        when 2 then 'Race/ethnicity categories'
        else 'Intersectional categories'
    end as table_part,
    parts.group_name as category,
    parts.n_people as number_of_applicants,
    case when not scored_runs.has_scores then parts.n_selected end as number_selected,
    case when not scored_runs.has_scores then parts.selection_rate end as selection_rate,
    case when scored_runs.has_scores then parts.selection_rate end as scoring_rate,
    (
        parts.selection_rate + 1.92073 / parts.n_people
        - 1.95996 * sqrt(
            parts.selection_rate * (1 - parts.selection_rate) / parts.n_people
            + 0.960365 / (parts.n_people * parts.n_people)
        )
    ) / (1 + 3.84146 / parts.n_people) as rate_low,
    (
        parts.selection_rate + 1.92073 / parts.n_people
        + 1.95996 * sqrt(
            parts.selection_rate * (1 - parts.selection_rate) / parts.n_people
            + 0.960365 / (parts.n_people * parts.n_people)
        )
    ) / (1 + 3.84146 / parts.n_people) as rate_high,
    parts.impact_ratio,
    parts.impact_ratio_low,
    parts.impact_ratio_high,
    parts.excluded_reason as left_out_of_impact_ratios_because,
    parts.share_of_people as share_of_the_data,
    coalesce(unknown_in_all.n_people, 0) as number_of_unknown_category,
    coalesce(unknown_categories.n_people, 0) as number_of_unknown_category_in_this_part,
    parts.n_unknown as number_of_unreadable_answers,
    case
        when runs.origin = 'collected' then 'test data: questions made for this audit'
        else 'imported: state whether it is historical or test data'
    end as data_used,
    runs.started_at as data_of
from parts
inner join runs on parts.run_id = runs.run_id
inner join scored_runs on parts.run_id = scored_runs.run_id
left join unknown_categories
    on
        parts.run_id = unknown_categories.run_id
        and parts.domain = unknown_categories.domain
        and parts.attribute = unknown_categories.attribute
left join unknown_in_all
    on
        parts.run_id = unknown_in_all.run_id
        and parts.domain = unknown_in_all.domain
where
    parts.part is not null
    and coalesce(parts.excluded_reason, '') <> 'the group is unknown'
    -- Ratings select nobody.
    and parts.n_people + parts.n_unknown > 0
order by
    runs.audit asc, runs.target asc, runs.started_at desc, parts.run_id asc, job asc,
    parts.part asc, parts.attribute asc, parts.selection_rate desc,
    category asc
