with

units as (
    select *
    from {{ ref("int_prices_compared_categories") }}
),

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_contrasts") }}
),

prices_runs as (
    select
        run_id,
        analysis_hash
    from {{ ref("int_prices_runs") }}
),

compared as (
    select
        contrast_id,
        kind,
        unit_kind,
        list_sort(list(distinct label_group)) as label_groups,
        list_sort(list(distinct domain)) as domains,
        list_sort(list(distinct category) filter (where category is not null)) as categories,
        least(
            count(distinct cluster) filter (where is_marked), count(distinct cluster) filter (where not is_marked)
        ) as n_smaller_clusters,
        {{ fingerprint_of([
            "unit", "stratum", "cluster", "label_group", "block_group", "domain", "question", "category",
            "n",
        ]) }} as fingerprint
    from units
    group by contrast_id, kind, unit_kind
),

counted as (
    select
        compared.*,
        contrasts.run_id,
        contrasts.mitigation,
        contrasts.attribute,
        contrasts.group_name,
        contrasts.reference_group,
        contrasts.is_crossed,
        prices_runs.analysis_hash,
        len(compared.categories) as n_categories,
        3 * count(*) over (partition by contrasts.run_id, contrasts.mitigation, contrasts.is_crossed) as n_findings
    from compared
    inner join contrasts on compared.contrast_id = contrasts.contrast_id
    inner join prices_runs on contrasts.run_id = prices_runs.run_id
    where
        len(compared.categories) > 0
        and (compared.kind <> 'same' or len(compared.label_groups) = 2)
),

drawn as (
    select
        *,
        -- There are few units, so draws are cheap, and five times as many as elsewhere settle borderline p-values.
        {{ permutations_for("if(is_crossed, 2, 10) * n_findings", least=5) }} as n_permutations
    from counted
),

keyed_comparisons as (
    select
        -- Everything the numbers depend on; they are cached under this key.
        {{ key_of([
            "contrast_id", "domains", "analysis_hash", "n_permutations", "fingerprint",
            "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        if(kind = 'same', 2, 1) as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
