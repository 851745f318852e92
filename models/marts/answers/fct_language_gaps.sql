{{ config(materialized="by_run") }}

with

languages as (
    select *
    from {{ run_rows("fct_answer_languages") }}
),

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        group_name,
        reference_group
    from {{ run_rows("int_contrasts") }}
    union
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        group_name,
        reference_group
    from {{ run_rows("int_answers_contrasts") }}
),

groups as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        sum(n) as n,
        coalesce(sum(n) filter (where language <> ''), 0) as n_known,
        coalesce(sum(n) filter (where not is_checked_for_refusals), 0) as n_unchecked,
        string_agg(
            printf('%s (%.0f %%)', language_name, 100 * share), ' and ' order by n desc, language_name asc
        ) filter (where share >= 0.1) as main_languages,
        string_agg(language_name, ', ' order by n desc, language_name asc) filter (where not is_checked_for_refusals)
            as unchecked_languages
    from languages
    group by run_id, mitigation, attribute, group_name
),

-- Two groups of a contrast; of all groups of an attribute, any two. Fewer than ten answers say too little of a group's
-- language.
pairs as (
    select
        contrasts.contrast_id,
        one.run_id,
        one.mitigation,
        one.attribute,
        one.group_name as one_group,
        other.group_name as other_group,
        contrasts.group_name = '(all)' as is_of_all,
        one.n_known as n_one,
        other.n_known as n_other,
        least(one.n_known / one.n, other.n_known / other.n) as share_known
    from contrasts
    inner join groups as one
        on
            contrasts.run_id = one.run_id
            and contrasts.mitigation = one.mitigation
            and contrasts.attribute = one.attribute
            and contrasts.group_name in (one.group_name, '(all)')
    inner join groups as other
        on
            contrasts.run_id = other.run_id
            and contrasts.mitigation = other.mitigation
            and contrasts.attribute = other.attribute
            and contrasts.reference_group in (other.group_name, '(all)')
            and (contrasts.group_name <> '(all)' or one.group_name < other.group_name)
    where least(one.n_known, other.n_known) >= 10
),

counted as (
    select
        pairs.contrast_id,
        pairs.run_id,
        pairs.mitigation,
        pairs.attribute,
        pairs.is_of_all,
        pairs.one_group,
        pairs.other_group,
        pairs.n_one,
        pairs.n_other,
        pairs.share_known,
        languages.language,
        coalesce(sum(languages.n) filter (where languages.group_name = pairs.one_group), 0) as n_of_one,
        coalesce(sum(languages.n) filter (where languages.group_name = pairs.other_group), 0) as n_of_other
    from pairs
    inner join languages
        on
            pairs.run_id = languages.run_id
            and pairs.mitigation = languages.mitigation
            and pairs.attribute = languages.attribute
            and languages.group_name in (pairs.one_group, pairs.other_group)
    where languages.language <> ''
    group by
        pairs.contrast_id, pairs.run_id, pairs.mitigation, pairs.attribute, pairs.is_of_all, pairs.one_group,
        pairs.other_group, pairs.n_one, pairs.n_other, pairs.share_known, languages.language
),

ordered as (
    select
        *,
        n_of_one / n_one > n_of_other / n_other as is_more_of_one,
        abs(n_of_one / n_one - n_of_other / n_other) as difference,
        count(*) over (partition by run_id, mitigation, attribute, is_of_all) as n_tests
    from counted
),

tested as (
    select
        contrast_id,
        one_group,
        other_group,
        language,
        difference,
        share_known,
        n_tests,
        if(is_more_of_one, n_of_one, n_of_other) as n_more,
        if(is_more_of_one, n_one, n_other) as of_more,
        if(is_more_of_one, n_of_other, n_of_one) as n_less,
        if(is_more_of_one, n_other, n_one) as of_less
    from ordered
),

differences as (
    select
        *,
        -- A few answers differ by chance, and some are taken for another language (Bonferroni).
        case
            when difference * share_known >= 0.1
                then {{ fisher_p_bound("n_more", "of_more", "n_less", "of_less") }} * n_tests <= 0.05
            else false
        end as is_different
    from tested
),

largest as (
    select *
    from differences
    qualify
        row_number() over (
            partition by contrast_id
            order by is_different desc, difference desc, one_group asc, other_group asc, language asc
        ) = 1
),

described as (
    select
        contrasts.*,
        coalesce(marked.n_known, 0) as n_marked,
        coalesce(reference.n_known, 0) as n_reference,
        coalesce(marked.n_unchecked, 0) as n_marked_unchecked,
        coalesce(reference.n_unchecked, 0) as n_reference_unchecked,
        largest.difference as largest_difference,
        coalesce(largest.is_different, false) as is_different,
        case
            when largest.is_different
                then printf(
                    'answers about %s are in %s, about %s in %s',
                    largest.one_group, coalesce(one.main_languages, 'many languages'),
                    largest.other_group, coalesce(other.main_languages, 'many languages')
                )
        end as languages,
        case
            when
                greatest(
                    coalesce(marked.n_unchecked / marked.n, 0), coalesce(reference.n_unchecked / reference.n, 0)
                ) >= 0.05
                then 'not checked for refusals, because no refusal patterns exist for the language: ' || concat_ws(
                    ' and ',
                    case
                        when marked.n_unchecked > 0
                            then printf(
                                '%s of %s about %s (%s)', {{ thousands("marked.n_unchecked") }},
                                {{ count_of("marked.n", "answer") }}, marked.group_name,
                                marked.unchecked_languages
                            )
                    end,
                    case
                        when reference.n_unchecked > 0
                            then printf(
                                '%s of %s about %s (%s)', {{ thousands("reference.n_unchecked") }},
                                {{ count_of("reference.n", "answer") }}, reference.group_name,
                                reference.unchecked_languages
                            )
                    end
                )
        end as unchecked
    from contrasts
    left join largest on contrasts.contrast_id = largest.contrast_id
    left join groups as one
        on
            contrasts.run_id = one.run_id
            and contrasts.mitigation = one.mitigation
            and contrasts.attribute = one.attribute
            and largest.one_group = one.group_name
    left join groups as other
        on
            contrasts.run_id = other.run_id
            and contrasts.mitigation = other.mitigation
            and contrasts.attribute = other.attribute
            and largest.other_group = other.group_name
    left join groups as marked
        on
            contrasts.run_id = marked.run_id
            and contrasts.mitigation = marked.mitigation
            and contrasts.attribute = marked.attribute
            and contrasts.group_name = marked.group_name
    left join groups as reference
        on
            contrasts.run_id = reference.run_id
            and contrasts.mitigation = reference.mitigation
            and contrasts.attribute = reference.attribute
            and contrasts.reference_group = reference.group_name
),

language_gaps as (
    select *
    from described
    where largest_difference is not null or unchecked is not null
)

{{ contracted("language_gaps") }}
