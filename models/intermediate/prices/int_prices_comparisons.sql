with

units as (
    select *
    from {{ ref("int_prices_compared_units") }}
),

prices_runs as (
    select
        run_id,
        analysis_hash,
        n_levels
    from {{ ref("int_prices_runs") }}
),

contrasts as (
    select *
    from {{ ref("int_prices_contrasts") }}
),

compared_units as (
    select
        contrast_id,
        list_sort(list(distinct domain)) as domains,
        {{ fingerprint_of([
            "unit", "stratum", "cluster", "label_group", "block_group", "domain", "question",
            "price_level", "n",
        ]) }} as fingerprint
    from units
    group by contrast_id
),

counted as (
    select
        contrasts.*,
        compared_units.domains,
        compared_units.fingerprint,
        prices_runs.analysis_hash,
        prices_runs.n_levels,
        len(contrasts.groups) as n_groups,
        len(compared_units.domains) as n_sets,
        -- Judged together: shares, mean price and categories of each contrast; or how far apart all groups' means lie.
        sum(if(contrasts.has_reference, if(len(contrasts.groups) = 2, 3, 0), 1)) over (
            partition by contrasts.run_id, contrasts.mitigation, contrasts.is_crossed
        ) as n_findings
    from contrasts
    inner join compared_units on contrasts.contrast_id = compared_units.contrast_id
    inner join prices_runs on contrasts.run_id = prices_runs.run_id
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
            "contrast_id", "unit_kind", "groups", "domains", "n_levels", "analysis_hash", "n_permutations",
            "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        if(kind = 'same', 2, 1) as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
