with

measured as (
    select * exclude (scope)
    from {{ ref("int_findings_measured") }}
),

findings_thresholds as (
    select *
    from {{ ref("int_findings_thresholds") }}
),

measures as (
    select
        measure,
        method,
        side,
        unit,
        no_difference,
        restates,
        past,
        display_factor,
        display_unit,
        is_read_as_percent
    from {{ ref("dim_measures") }}
),

runs as (
    select
        run_id,
        audit,
        target,
        spec_hash,
        noun_item,
        noun_items,
        noun_case,
        noun_cases,
        noun_outcome,
        noun_unit,
        is_simulated,
        is_current
    from {{ ref("dim_runs") }}
),

usable_answers as (
    select *
    from {{ ref("int_answers_usable") }}
),

unusable_runs as (
    select distinct
        run_id,
        mitigation
    from usable_answers
    where n_usable_of_run = 0
),

joined as (
    select
        measured.* exclude (settled_by, n_units),
        coalesce(measured.n_sufficient, measured.n_units, 0) < findings_thresholds.min_units as is_few,
        -- Report the unit that is too few before the one that would settle the finding.
        if(is_few, coalesce(measured.n_sufficient, measured.n_units), measured.n_units) as n_units,
        -- The most certain member of a family past the threshold is judged or, if none is, the most certain one.
        list_filter(
            measured.family, lambda one: abs(one.value) >= findings_thresholds.threshold
        )[1] as member_past_threshold,
        measures.side,
        if(
            is_few and measured.n_sufficient is not null, measures.unit, coalesce(measured.settled_by, measures.unit)
        ) as settled_by,
        measures.method,
        measures.restates,
        measures.no_difference,
        measures.past,
        measures.display_factor,
        measures.display_unit,
        measures.is_read_as_percent,
        runs.audit,
        runs.target,
        runs.spec_hash,
        runs.noun_item,
        runs.noun_items,
        runs.noun_case,
        runs.noun_cases,
        runs.noun_outcome,
        runs.noun_unit,
        runs.is_simulated,
        runs.is_current,
        findings_thresholds.threshold,
        findings_thresholds.clear_threshold,
        findings_thresholds.published_threshold,
        findings_thresholds.alpha,
        findings_thresholds.min_units,
        findings_thresholds.severity,
        findings_thresholds.full_severity,
        findings_thresholds.scope,
        findings_thresholds.n_descriptors,
        findings_thresholds.wording_control,
        findings_thresholds.is_within_wordings,
        findings_thresholds.threshold_hash,
        findings_thresholds.threshold_audit,
        findings_thresholds.threshold_attribute,
        if(measured.group_name = '(all)', coalesce(measured.member, '(all)'), measured.group_name) as marked_group,
        coalesce(measured.reference_member, measured.reference_group) as other_group,
        -- No group of an attribute such as (wording) is one of people.
        if(
            left(measured.attribute, 1) = '(',
            null,
            {{ group_in_words("measured.attribute", "marked_group") }}  -- noqa
        ) as group_in_words,
        if(
            left(measured.attribute, 1) = '(',
            null,
            {{ group_in_words("measured.attribute", "other_group") }}  -- noqa
        ) as reference_in_words,
        measured.not_judged_because is not null
        or (
            not coalesce(measured.is_same_by_construction, false)
            and (is_few or measured.p_value is null)
        ) as is_insufficient,
        -- A group, or a run, without usable answers is never clear.
        case
            when unusable_runs.run_id is not null then 'no question got an answer that can be used'
            when usable_marked.n_usable = 0 then 'no question {about_group} got an answer that can be used'
            when usable_reference.n_usable = 0 then 'no question {about_reference} got an answer that can be used'
        end as not_clear_because
    from measured
    inner join runs on measured.run_id = runs.run_id
    inner join measures on measured.measure = measures.measure
    inner join findings_thresholds on measured.finding_id = findings_thresholds.finding_id
    left join unusable_runs
        on
            measured.run_id = unusable_runs.run_id
            and measured.mitigation = unusable_runs.mitigation
    left join usable_answers as usable_marked
        on
            measured.run_id = usable_marked.run_id
            and measured.mitigation = usable_marked.mitigation
            and measured.attribute = usable_marked.attribute
            and measured.group_name = usable_marked.group_name
    left join usable_answers as usable_reference
        on
            measured.run_id = usable_reference.run_id
            and measured.mitigation = usable_reference.mitigation
            and measured.attribute = usable_reference.attribute
            and measured.reference_group = usable_reference.group_name
),

thresholded as (
    select
        * exclude (member_past_threshold)
        replace (
            coalesce(member_past_threshold.value, value) as value,
            coalesce(member_past_threshold.p_value, p_value) as p_value,
            coalesce(member_past_threshold.detail, detail) as detail,
            coalesce(member_past_threshold.detail, detail_without_alarm) as detail_without_alarm
        ),
        coalesce(member_past_threshold, family[1]) as judged_member,
        -- The widest member of a family decides whether it is clear, not the value.
        if(family is null, value, 0) as centre
    from joined
),

phrased as (
    select
        * replace (
            {% for text in [
                "detail", "detail_without_alarm", "caution", "ruled_out", "not_clear_because", "not_judged_because"
            ] %}
                {{ in_words_of_audit(text) }} as {{ text }}{{ "," if not loop.last }}
            {%- endfor %}

        ),
        if(settled_by = 'cases', coalesce(noun_cases, settled_by), settled_by) as counted,
        if(settled_by = 'cases', noun_case, null) as counted_one
    from thresholded
),

-- Findings that cannot become an alarm take no part of alpha: equal outcomes, which no arrangement of the labels
-- changes, and so few arrangements that no p is below alpha.
tested as (
    select
        *,
        not is_insufficient
        and p_value is not null
        and not coalesce(null_sd <= 1e-12 and p_value = 1, false)
        and not coalesce(n_permutations between 1 and 1 / alpha, false) as is_tested
    from phrased
),

-- An unbiased target raises any alarm in at most alpha of audits.
gatekept as (
    {{ gatekept_holm("tested", "p_value", ["run_id", "mitigation", "severity", "full_severity"]) }}
),

adjusted as (
    select
        tested.*,
        coalesce(gatekept.p_value_adjusted, if(tested.is_insufficient, null, tested.p_value)) as p_value_adjusted
    from tested
    left join gatekept on tested.finding_id = gatekept.finding_id
),

weighed as (
    select
        *,
        -- Low values are the worse ones of some measures, large ones in either direction of others.
        if(side = 'lower', value <= threshold, abs(value) >= threshold) as is_past_threshold,
        -- A family has the ends of its judged member; without such ends it has no interval of the value.
        if(family is null, interval_low, judged_member.interval_low) as value_low,
        if(family is null, interval_high, judged_member.interval_high) as value_high,
        -- A value whose own interval holds no difference shows none, whatever its p.
        coalesce(value_low <= no_difference and value_high >= no_difference, false) as is_doubtful,
        case side
            when 'upper' then value_low > threshold
            when 'lower' then value_high < threshold
            else value_low > threshold or value_high < -threshold
        end as is_beyond_threshold,
        -- Whether an alarm, and a clear finding, hold whatever the answers said that could not be read.
        n_unread = 0
        or coalesce(
            case
                when side = 'lower'
                    then value_if_unread_high <= threshold and coalesce(interval_if_unread_high < no_difference, true)
                when value > no_difference
                    then value_if_unread_low >= threshold and coalesce(interval_if_unread_low > no_difference, true)
                else value_if_unread_high <= -threshold and coalesce(interval_if_unread_high < no_difference, true)
            end,
            false
        ) as is_alarm_anyway,
        n_unread = 0
        or coalesce(
            case side
                when 'lower' then interval_if_unread_low > clear_threshold
                when 'upper' then interval_if_unread_high < clear_threshold
                else greatest(interval_if_unread_high, -interval_if_unread_low) < clear_threshold
            end,
            false
        ) as is_clear_anyway
    from adjusted
),

-- The verdict on the answers that were read.
judged_as_read as (
    select
        *,
        case
            when is_insufficient then 'insufficient_data'
            when is_same_by_construction then 'clear'
            when
                is_past_threshold and p_value_adjusted < alpha and not is_doubtful and not is_within_wordings
                then 'alarm'
            when side = 'lower' and interval_low > clear_threshold then 'clear'
            when side = 'upper' and interval_high < clear_threshold then 'clear'
            when side = 'two-sided' and greatest(interval_high, -interval_low) < clear_threshold then 'clear'
            else 'inconclusive'
        end as status_as_read
    from weighed
),

judged as (
    select
        *,
        case
            when status_as_read = 'alarm' then not is_alarm_anyway
            when status_as_read = 'clear' then not is_clear_anyway
            else false
        end as is_open_for_unread,
        status_as_read = 'clear' and not_clear_because is not null as is_nothing_known,
        case
            when is_nothing_known then 'insufficient_data'
            when is_open_for_unread then 'inconclusive'
            else status_as_read
        end as status
    from judged_as_read
),

-- How many units would settle what is inconclusive: deviates grow and widths shrink with their square root, or as
-- the column width_power says, so this is a rough guide and no promise. A value past the threshold lacks a smaller
-- p, an interval that leaves out no difference, or both; any other an interval that ends before the threshold.
estimated as (
    select
        *,
        case
            when is_open_for_unread then null
            when status = 'inconclusive' and is_past_threshold
                then n_units * greatest(
                    pow(
                        {{ upper_normal_quantile("(alpha / 2)") }}
                        / {{ upper_normal_quantile("(least(p_value_adjusted, 0.999) / 2)") }}, 2
                    ),
                    if(
                        is_doubtful,
                        pow(
                            if(value > no_difference, value - value_low, value_high - value)
                            / abs(value - no_difference),
                            1 / coalesce(width_power, 0.5)
                        ),
                        0
                    )
                )
            when
                status = 'inconclusive'
                and not is_past_threshold
                and abs(centre) <> clear_threshold
                -- Where chance alone lies past the threshold no number of units settles it.
                and (side <> 'lower' or null_mean is null or null_mean > clear_threshold)
                then n_units * pow(
                    -- The arm that keeps it from clearing, where it is longer than the other.
                    greatest(
                        half_width,
                        case side
                            when 'upper' then interval_high - centre
                            when 'lower' then centre - interval_low
                            else greatest(interval_high, -interval_low) - abs(centre)
                        end
                    ) / abs(abs(centre) - clear_threshold),
                    1 / coalesce(width_power, 0.5)
                )
        end as n_units_estimated
    from judged
),

-- Nobody asks a hundred times as much to learn what lies at the threshold; and where the arms of an interval are
-- too unequal to tell, no number is better than one that is there already.
settled as (
    select
        *,
        case
            when n_units_estimated > n_units and n_units_estimated <= 100 * n_units
                then cast(ceil(n_units_estimated) as bigint)
        end as n_units_needed
    from estimated
),

excepted as (
    select
        settled.*,
        settled.status = 'alarm' and {{ is_live_exception("settled") }} as is_excepted
    from settled
),

-- The measurement in a clause, without the verdict, what would be an alarm, and what keeps a finding from being clear.
stated as (
    select
        *,
        if(status = 'alarm', detail, detail_without_alarm) as statement,
        {{ capitalized("statement") }} || '.' || coalesce(' ' || {{ capitalized("caution") }} || '.', '') as stated,
        replace(past, '{limit}', {{ in_display_unit("threshold") }}) as past_threshold,
        coalesce(ruled_out, replace(past, '{limit}', {{ in_display_unit("clear_threshold") }})) as not_clear_from,
        printf('adjusted p %.2g', {{ rounded_p("p_value_adjusted") }}) as p_in_words,
        if(
            n_unread > 0,
            ' ' || {{ count_of("n_unread", "answer") }} || ' could not be read'
            || coalesce(' (' || unread_by_group || ')', '')
            || coalesce(
                printf(
                    ', and depending on what %s the value lies between %s and %s',
                    if(n_unread = 1, 'it says', 'they say'),
                    {{ in_display_unit("value_if_unread_low") }}, {{ in_display_unit("value_if_unread_high") }}
                ),
                if(n_unread = 1, ', and what it says', ', and what they say') || ' may change the value by any amount'
            )
            || case
                when is_open_for_unread and status_as_read = 'alarm' then ', and not every such value would be an alarm'
                when is_open_for_unread then ', and not every such value would be clear'
                when status in ('alarm', 'clear') then ', which does not change the verdict'
                else ''
            end
            || '.',
            ''
        ) as unread_sentence
    from excepted
),

findings as (
    select
        cast(finding_id as varchar) as finding_id,
        cast(contrast_id as varchar) as contrast_id,
        cast(run_id as varchar) as run_id,
        cast(mitigation as varchar) as mitigation,
        cast(audit as varchar) as audit,
        cast(target as varchar) as target,
        cast(measure as varchar) as measure,
        cast(scheme as varchar) as scheme,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(subject as varchar) as subject,
        cast(coalesce(judged_member.member, member) as varchar) as member,
        cast(reference_member as varchar) as reference_member,
        cast(group_in_words as varchar) as group_in_words,
        cast(reference_in_words as varchar) as reference_in_words,
        cast(status as varchar) as status,
        cast(severity as varchar) as severity,
        cast(scope as varchar) as scope,
        cast(
            case status
                when 'insufficient_data'
                    then
                        'Not judged: '
                        || case
                            when not_judged_because is not null then not_judged_because
                            when is_nothing_known then not_clear_because
                            when is_few and n_units = 0 then 'there are no ' || counted
                            when is_few and n_units is not null
                                then
                                    if(n_units = 1, 'there is only ', 'there are only ')
                                    || {{ counted_of("n_units", "counted", "counted_one") }}
                            else coalesce(
                                statement,
                                'chance cannot be estimated, as no template was asked about both groups'
                            )
                        end
                        || '.'
                when 'alarm'
                    then
                        stated
                        -- Counts are not estimated and have no p.
                        || case
                            when p_value_adjusted = 0 then ''
                            when is_beyond_threshold
                                then
                                    ' The difference is larger than the threshold with 95 % confidence ('
                                    || p_in_words || ').'
                            when is_beyond_threshold is null
                                then ' The difference is statistically certain (' || p_in_words || ').'
                            else
                                ' The difference is statistically certain (' || p_in_words
                                || '), but it may be smaller than the threshold.'
                        end
                when 'clear'
                    then
                        stated || ' '
                        || if(
                            is_same_by_construction,
                            'The prompts are the same for both groups, and so was every answer',
                            {{ capitalized("not_clear_from") }} || ' is ruled out'
                        )
                        || '.'
                else
                    stated
                    || case
                        when is_open_for_unread then ''
                        when is_past_threshold and is_within_wordings then ' Wordings of one group differ as much.'
                        when is_past_threshold and is_doubtful and p_value_adjusted < alpha
                            then printf(
                                ' Its interval (%s to %s) includes no difference, though its %s.',
                                {{ in_display_unit("value_low") }}, {{ in_display_unit("value_high") }},
                                replace(p_in_words, 'adjusted p', 'adjusted p is')
                            )
                        when ruled_out is not null or past_threshold = not_clear_from
                            then
                                ' The answers neither show (' || p_in_words || ') nor rule out '
                                || not_clear_from || '.'
                        else
                            ' The answers do not show ' || past_threshold || ' (' || p_in_words
                            || '), and do not rule out ' || not_clear_from || '.'
                    end
            end
            || if(
                status = 'insufficient_data', '',
                unread_sentence
                || coalesce(
                    ' ' || {{ scope_sentence("scope", "n_descriptors", "wording_control", "status") }} || '.', ''
                )
            ) as varchar
        ) as explanation,
        cast(statement as varchar) as statement,
        cast(caution as varchar) as caution,
        cast(spec_hash as varchar) as spec_hash,
        cast(analysis_hash as varchar) as analysis_hash,
        cast(threshold_hash as varchar) as threshold_hash,
        cast(threshold_audit as varchar) as threshold_audit,
        cast(threshold_attribute as varchar) as threshold_attribute,
        cast('{{ var("engine_version") }}' as varchar) as engine_version,
        cast(value as double) as value,
        cast(value_low as double) as value_low,
        cast(value_high as double) as value_high,
        cast(threshold as double) as threshold,
        cast(clear_threshold as double) as clear_threshold,
        cast(alpha as double) as alpha,
        cast(p_value as double) as p_value,
        cast(p_value_adjusted as double) as p_value_adjusted,
        cast(null_mean as double) as null_mean,
        cast(null_sd as double) as null_sd,
        cast(wording_control as double) as wording_control,
        cast(interval_low as double) as interval_low,
        cast(interval_high as double) as interval_high,
        cast(n_unread as bigint) as n_unread,
        cast(value_if_unread_low as double) as value_if_unread_low,
        cast(value_if_unread_high as double) as value_if_unread_high,
        cast(interval_if_unread_low as double) as interval_if_unread_low,
        cast(interval_if_unread_high as double) as interval_if_unread_high,
        cast(published_value as double) as published_value,
        cast(published_threshold as double) as published_threshold,
        cast(n_units as bigint) as n_units,
        cast(min_units as integer) as min_units,
        cast(n_units_needed as bigint) as n_units_needed,
        cast(settled_by as varchar) as settled_by,
        cast(
            nullif(
                concat_ws(
                    ' ',
                    case
                        when not_judged_because is not null then way_out
                        when is_open_for_unread
                            then if(
                                n_unread = 1, 'It would be settled once its unread answer is read.',
                                printf(
                                    'It would be settled once its %s unread answers are read.',
                                    {{ thousands("n_unread") }}
                                )
                            )
                        when status = 'insufficient_data' and is_few and (n_units is not null or statement is null)
                            then printf('At least %d %s are needed.', min_units, counted)
                        when is_past_threshold and is_within_wordings and status = 'inconclusive' then null
                        else {{ settling_sentence() }}
                    end,
                    {{ scope_advice("scope", "method = 'words'", "min_units") }} || '.'
                ),
                ''
            ) as varchar
        ) as advice,
        cast(coalesce(n_permutations, 0) as integer) as n_permutations,
        cast(seed as bigint) as seed,
        cast(
            case
                when side = 'lower' then published_value < published_threshold
                else abs(published_value) > published_threshold
            end as boolean
        ) as is_published_alarm,
        cast(is_beyond_threshold as boolean) as is_beyond_threshold,
        cast(is_excepted as boolean) as is_excepted,
        cast(is_simulated as boolean) as is_simulated,
        cast(is_current as boolean) as is_current
    from stated
)

select * from findings
