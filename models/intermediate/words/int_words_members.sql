{{ config(materialized="by_run") }}

with

comparisons as (
    select
        comparison_key,
        run_id,
        contrast_id,
        scheme
    from {{ run_rows("int_words_comparisons") }}
),

comparison_units as (
    select *
    from {{ run_rows("int_words_comparison_units") }}
),

compared as (
    select
        comparisons.comparison_key,
        comparisons.run_id,
        comparison_units.unit_id,
        comparison_units.label,
        comparison_units.stratum,
        comparison_units.other_groups,
        comparison_units.block,
        -- The answers to one customer, say, about one group move together.
        coalesce(comparison_units.paired_cluster, comparison_units.prompt_id) as prompt_id,
        comparison_units.descriptors,
        -- A customer moves with all its texts, else what names or words the group.
        coalesce(
            comparison_units.person,
            if(
                min(comparison_units.descriptors) over of_group = max(comparison_units.descriptors) over of_group,
                comparison_units.paired_cluster, null
            ),
            comparison_units.descriptors
        ) as name,
        -- No fold of a classifier has texts of one customer, or the same text, on both sides.
        coalesce(comparison_units.paired_cluster, comparison_units.person) as cluster,
        if(cluster is null, comparison_units.text_key, null) as text_key,
        comparison_units.n_responses,
        comparison_units.n_trials,
        comparison_units.first_seq
    from comparisons
    inner join comparison_units
        on
            comparisons.contrast_id = comparison_units.contrast_id
            and comparisons.scheme = comparison_units.scheme
    window of_group as (partition by comparisons.comparison_key, comparison_units.label)
),

-- Other attributes of each name or wording of a group, over all prompts that hold it, and its block if it has one.
carried as (
    select
        comparison_key,
        label,
        name,
        concat_ws(
            ' | ',
            array_to_string(list_sort(list_distinct(list(other_groups))), ' / '),
            if(count(distinct block) = 1, 'block ' || min(block), null)
        ) as other_groups
    from compared
    group by comparison_key, label, name
),

words_members as (
    select
        compared.comparison_key,
        compared.run_id,
        compared.unit_id,
        compared.label,
        {{ code_in_comparison("compared.stratum", "compared") }} as stratum_id,
        {{ code_in_comparison("compared.cluster, compared.text_key", "compared") }} as cluster_id,
        {{ code_in_comparison("compared.prompt_id", "compared") }} as prompt_id,
        -- The published procedures number classes by the words in the prompt.
        {{ code_in_comparison("compared.descriptors", "compared") }} as descriptor_id,
        {{ code_in_comparison("compared.name", "compared") }} as name_id,
        -- Names and wordings are exchanged among those with the same other groups.
        {{ code_in_comparison("carried.other_groups", "compared") }} as name_stratum_id,
        compared.n_responses,
        compared.n_trials,
        compared.first_seq
    from compared
    inner join carried
        on
            compared.comparison_key = carried.comparison_key
            and compared.label = carried.label
            and compared.name = carried.name
)

select * from words_members
