with

robustness_values as (
    select *
    from {{ ref("int_lists_robustness_values") }}
),

lists_runs as (
    select
        run_id,
        reading_hash,
        similarity,
        schemes
    from {{ ref("int_lists_runs") }}
),

compared as (
    select
        run_id,
        variant,
        scheme,
        wording,
        domain,
        attribute,
        bit_xor(hash(subject, similarity, rerun_similarity)) as fingerprint
    from robustness_values
    group by run_id, variant, scheme, wording, domain, attribute
),

marked_comparisons as (
    select
        compared.*,
        lists_runs.reading_hash,
        lists_runs.similarity,
        lists_runs.schemes[1] = compared.scheme and compared.attribute = '(all)' as is_judged
    from compared
    inner join lists_runs on compared.run_id = lists_runs.run_id
),

counted_comparisons as (
    select
        *,
        -- A wording is judged over all attributes; ten times the draws that Holm's smallest step needs.
        case
            when is_judged and {{ var("permutations") }}
                then cast(
                    greatest(
                        {{ var("min_permutations") }},
                        ceil(
                            10 * count(*) filter (where is_judged) over (partition by run_id, variant)
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
        {{ key_of([
            "run_id", "variant", "scheme", "wording", "domain", "attribute", "similarity", "n_permutations",
            "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
        ]) }} as robustness_key,
        *,
        {{ var("seed") }} as seed
    from counted_comparisons
)

select * from keyed_comparisons
