with

group_values as (
    select *
    from {{ ref("int_lists_group_values") }}
),

lists_runs as (
    select
        run_id,
        reading_hash,
        schemes
    from {{ ref("int_lists_runs") }}
),

rerun_values as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        domain,
        bit_xor(hash(subject, rerun, jaccard, serp, prag)) as fingerprint
    from {{ ref("int_lists_rerun_values") }}
    group by run_id, variant, scheme, neutral, domain
),

compared as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        is_judged_neutral,
        wording,
        domain,
        attribute,
        is_crossed,
        count(distinct group_name) as n_groups,
        count(distinct subject) as n_subjects,
        bit_xor(
            hash(subject, group_name, jaccard, serp, prag, serp_code, prag_code, unanswered, shortfall, repeated, ndcg)
        ) as fingerprint
    from group_values
    group by run_id, variant, scheme, neutral, is_judged_neutral, wording, domain, attribute, is_crossed
    having count(distinct group_name) > 1
),

marked_comparisons as (
    select
        compared.*,
        lists_runs.reading_hash,
        (
            lists_runs.schemes[1] = compared.scheme
            and compared.is_judged_neutral
            and compared.wording in ('clean', 'indirect')
            and compared.attribute <> '(all)'
        ) as is_judged,
        rerun_values.fingerprint as rerun_fingerprint,
        case
            when rerun_values.run_id is not null
                then {{ key_of([
                    "compared.run_id", "compared.variant", "compared.scheme", "compared.neutral", "compared.domain",
                ]) }}
        end as rerun_key
    from compared
    inner join lists_runs on compared.run_id = lists_runs.run_id
    left join rerun_values
        on
            compared.run_id = rerun_values.run_id
            and compared.variant = rerun_values.variant
            and compared.scheme = rerun_values.scheme
            and compared.neutral = rerun_values.neutral
            and compared.domain = rerun_values.domain
),

counted_comparisons as (
    select
        *,
        -- Two measures judge an attribute. With fewer than m / alpha draws Holm's smallest step could not be reached:
        -- take ten times as many, twice as many for intersections, which only warn.
        case
            when is_judged and {{ var("permutations") }}
                then cast(
                    greatest(
                        {{ var("min_permutations") }},
                        ceil(
                            case when is_crossed then 2 else 10 end
                            * 2 * count(*) filter (where is_judged) over (partition by run_id, variant, is_crossed)
                            / {{ var("alpha") }}
                        ) - 1
                    ) as integer
                )
            else 0
        end as n_permutations
    from marked_comparisons
),

keyed_comparisons as (
    select
        -- Everything a comparison's numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "variant", "scheme", "neutral", "wording", "domain", "attribute", "n_permutations",
            "fingerprint", "rerun_fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted_comparisons
)

select * from keyed_comparisons
