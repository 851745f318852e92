with

-- Measures that are no gaps of means, between each two wordings as between two groups.
words_measured as (
    {% for measure, model, prefix in [
        ("word_divergence", "int_words_divergences", "wordings"),
        ("length_gap", "int_words_divergences", "length_wordings"),
        ("classifier_accuracy", "int_words_classifiers", "wordings"),
    ] %}
        {{ "union all by name" if not loop.first }}
        select
            comparison_key,
            '{{ measure }}' as measure,
            unnest([0, 1]) as label,
            unnest([{{ prefix }}_reference_largest, {{ prefix }}_marked_largest]) as value,
            unnest([{{ prefix }}_reference_typical, {{ prefix }}_marked_typical]) as typical_value,
            unnest([{{ prefix }}_reference_n_pairs, {{ prefix }}_marked_n_pairs]) as n_pairs
        from {{ ref(model) }}
    {% endfor %}
),

words_of_groups as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.scheme,
        comparisons.attribute,
        '' as subject,
        words_measured.measure,
        if(words_measured.label = 1, comparisons.group_name, comparisons.reference_group) as group_name,
        words_measured.value,
        words_measured.typical_value,
        words_measured.n_pairs
    from words_measured
    inner join {{ ref("int_words_comparisons") }} as comparisons
        on words_measured.comparison_key = comparisons.comparison_key
    where
        words_measured.n_pairs > 0
        and comparisons.is_judged
)

select * from words_of_groups
