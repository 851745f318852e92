with

-- Optional columns of a finding, next to subject (empty), detail_without_alarm (as detail) and is_crossed.
-- member, reference_member: the largest and the smallest of several, which the value describes. family: the members
-- that some measures judge together, as every category of an attribute, the most certain first; any of them may be the
-- alarm. caution: a possible confounder of the comparison, a clause of its own. scope: the
-- reach, if names and wordings do not decide it. groups_compared: the groups of a whole attribute, if not all of them.
-- settled_by: the unit that must grow, if not the measure's own. ruled_out: the difference that a clear finding rules
-- out, if less than the threshold. half_width: half width of an interval on another scale than the value. width_power:
-- the half width falls as n_units to minus this power, if not one half. n_sufficient: the count compared with
-- min_units, if not n_units. is_same_by_construction: prompts and answers are equal for both groups in every case.
-- n_unread: answers that no rule reads; unread_by_group: their number by group, in words. value_if_unread_low, _high:
-- the value if each of them moved it down, or up, as far as possible; interval_if_unread_low: the lower end of the
-- interval in the first case, interval_if_unread_high: the upper end in the second. not_judged_because: reason for no
-- verdict in spite of enough data; way_out: advice for that case.
optional as (
    select
        cast(null as varchar) as subject,
        cast(null as varchar) as member,
        cast(null as varchar) as reference_member,
        cast(null as {{ family_type() }}) as family,
        cast(null as varchar) as detail_without_alarm,
        cast(null as varchar) as caution,
        cast(null as varchar) as scope,
        cast(null as varchar[]) as groups_compared,
        cast(null as varchar) as settled_by,
        cast(null as varchar) as ruled_out,
        cast(null as double) as null_mean,
        cast(null as double) as null_sd,
        cast(null as double) as half_width,
        cast(null as double) as width_power,
        cast(null as double) as published_value,
        cast(null as bigint) as n_sufficient,
        cast(null as bigint) as n_unread,
        cast(null as varchar) as unread_by_group,
        cast(null as double) as value_if_unread_low,
        cast(null as double) as value_if_unread_high,
        cast(null as double) as interval_if_unread_low,
        cast(null as double) as interval_if_unread_high,
        cast(null as varchar) as not_judged_because,
        cast(null as varchar) as way_out,
        cast(null as boolean) as is_same_by_construction,
        cast(null as boolean) as is_crossed,
        cast(null as boolean) as needs_one_language
    where false
),

outputs as (
    select * from optional
    {% for method in methods() %}
        union all by name
        select
            *,
            {{ "true" if method in methods(with_output="one_language") else "false" }} as needs_one_language
        from {{ ref("int_" ~ method ~ "_findings") }}
    {% endfor %}
    union all by name
    select * from {{ ref("int_answers_findings") }}
),

completed as (
    select
        * replace (
            {% for number in [
                "value", "p_value", "null_mean", "null_sd", "interval_low", "interval_high", "published_value"
            ] -%}
                {{ double_or_null(number) }} as {{ number }},
            {% endfor -%}
            {% for number in [
                "value_if_unread_low", "value_if_unread_high", "interval_if_unread_low", "interval_if_unread_high"
            ] -%}
                case when n_unread > 0 then {{ double_or_null(number) }} end as {{ number }},
            {% endfor -%}
            coalesce(subject, '') as subject,
            -- Who stands at both ends stands at neither: all are the same.
            nullif(member, reference_member) as member,
            nullif(reference_member, member) as reference_member,
            coalesce(detail_without_alarm, detail) as detail_without_alarm,
            coalesce(n_unread, 0) as n_unread,
            coalesce(is_crossed, false) as is_crossed
        )
    from outputs
),

identified as (
    select
        {{ finding_id("completed", "completed") }} as finding_id,
        {{ contrast_id("completed") }} as contrast_id,
        run_analysis_settings.analysis_hash,
        completed.*
    from completed
    inner join {{ ref("int_run_analysis_settings") }} as run_analysis_settings
        on completed.run_id = run_analysis_settings.run_id
),

language_gaps as (
    select
        contrast_id,
        languages,
        unchecked
    from {{ ref("fct_language_gaps") }}
    where
        is_different
        or unchecked is not null
),

blocks as (
    select
        run_id,
        mitigation,
        attribute,
        list(distinct group_name) as group_names
    from {{ ref("int_prompt_groups") }}
    group by run_id, mitigation, attribute, block
    having block is not null
),

-- Findings whose groups no block holds both, or, of a whole attribute, whose blocks hold one group each.
blocked as (
    select identified.finding_id
    from identified
    inner join blocks
        on
            identified.run_id = blocks.run_id
            and identified.mitigation = blocks.mitigation
            and identified.attribute = blocks.attribute
    group by identified.finding_id
    having
        not bool_or(
            if(
                identified.group_name = '(all)', len(blocks.group_names) > 1,
                list_contains(blocks.group_names, identified.group_name)
                and (
                    list_contains(blocks.group_names, identified.reference_group)
                    or left(identified.reference_group, 1) = '('
                )
            )
        )
),

-- Words differ where languages do, whatever they say of the groups; and a refusal in a language without patterns counts
-- as an answer.
measured as (
    select
        identified.* replace (
            coalesce(
                identified.not_judged_because,
                if(
                    blocked.finding_id is not null,
                    'each block holds only one group, so a difference between blocks looks like one between groups',
                    null
                ),
                if(
                    identified.needs_one_language,
                    language_gaps.languages || ', so that words differ with the language', null
                )
            ) as not_judged_because,
            coalesce(
                identified.way_out,
                if(
                    blocked.finding_id is not null,
                    'Ask about both groups in each block, such as on each day.', null
                ),
                if(
                    identified.needs_one_language and language_gaps.languages is not null,
                    'Compare answers in one language: ask for it in the prompt, keep the answers of one language '
                    || 'only, or translate them before they are imported.',
                    null
                )
            ) as way_out,
            if(
                identified.measure = 'answer_gap',
                nullif(concat_ws('; ', identified.caution, language_gaps.unchecked), ''), identified.caution
            ) as caution
        )
    from identified
    left join language_gaps on identified.contrast_id = language_gaps.contrast_id
    left join blocked on identified.finding_id = blocked.finding_id
)

select * exclude (needs_one_language)
from measured
