with

units as (
    select *
    from {{ ref("int_prices_category_units") }}
),

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group
    from {{ ref("int_contrasts") }}
    where comparison = 'against_reference'
),

prices_runs as (
    select
        run_id,
        reading_hash
    from {{ ref("int_prices_runs") }}
),

-- A domain in which one group has no items says nothing about the difference.
shared_domains as (
    select
        contrasts.run_id,
        contrasts.variant,
        contrasts.attribute,
        contrasts.group_name,
        contrasts.reference_group,
        units.domain
    from contrasts
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.variant = units.variant
            and contrasts.attribute = units.attribute
            and units.group_name in (contrasts.group_name, contrasts.reference_group)
    group by
        contrasts.run_id, contrasts.variant, contrasts.attribute, contrasts.group_name, contrasts.reference_group,
        units.domain
    having count(distinct units.group_name) = 2
),

compared as (
    select
        shared_domains.run_id,
        shared_domains.variant,
        shared_domains.attribute,
        shared_domains.group_name,
        shared_domains.reference_group,
        units.kind,
        units.unit_kind,
        units.is_crossed,
        list_sort(list(distinct units.label_group)) as label_groups,
        list_sort(list(distinct units.domain)) as domains,
        list_sort(list(distinct units.category) filter (where units.category is not null)) as categories,
        least(
            count(distinct units.cluster) filter (where units.group_name = shared_domains.group_name),
            count(distinct units.cluster) filter (where units.group_name = shared_domains.reference_group)
        ) as n_smaller_clusters,
        bit_xor(
            hash(
                units.unit, units.stratum, units.cluster, units.label_group, units.block_group, units.domain,
                units.question, units.category, units.n
            )
        ) as fingerprint
    from shared_domains
    inner join units
        on
            shared_domains.run_id = units.run_id
            and shared_domains.variant = units.variant
            and shared_domains.attribute = units.attribute
            and shared_domains.domain = units.domain
            and units.group_name in (shared_domains.group_name, shared_domains.reference_group)
    group by
        shared_domains.run_id, shared_domains.variant, shared_domains.attribute, shared_domains.group_name,
        shared_domains.reference_group, units.kind, units.unit_kind, units.is_crossed
),

counted as (
    select
        compared.*,
        prices_runs.reading_hash,
        len(compared.categories) as n_categories,
        3 * count(*) over (partition by compared.run_id, compared.variant, compared.is_crossed) as n_findings
    from compared
    inner join prices_runs on compared.run_id = prices_runs.run_id
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
            "run_id", "variant", "attribute", "group_name", "reference_group", "domains", "reading_hash", "n_permutations",
            "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        if(kind = 'same', 2, 1) as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
