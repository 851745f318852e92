{{
    config(
        materialized="incremental",
        incremental_strategy="delete+insert",
        unique_key="unit_key",
    )
}}

{%- set runs = runs_made_now("int_words_units", ref("int_words_runs")) %}

with

removed as (
    select
        run_id,
        word
    from {{ ref("int_words_removed") }}
),

-- Words removed from a text depend only on these terms and its own words, not on other runs.
terms_of_runs as (
    select
        run_id,
        {{ fingerprint_of(["term"]) }} as fingerprint
    from (
        select distinct
            run_id,
            term
        from {{ ref("int_words_terms") }}
    )
    group by run_id
),

texts as (
    select distinct
        units.unit_key,
        units.run_id,
        units.scheme,
        case when units.scheme = 'words' then terms_of_runs.fingerprint end as terms_fingerprint
    from {{ ref("int_words_units") }} as units
    left join terms_of_runs on units.run_id = terms_of_runs.run_id
    where {{ is_of_runs("units.run_id", runs) }}
),

{% if is_incremental() %}
    new_texts as (
        select texts.*
        from texts
        left join {{ this }} as known on texts.unit_key = known.unit_key
        where known.unit_key is null or known.terms_fingerprint is distinct from texts.terms_fingerprint
    ),
{% else %}
    new_texts as (
        select *
        from texts
    ),
{% endif %}

counts as (
    select
        unit_key,
        run_id,
        word
    from {{ ref("int_words_counts") }}
    where run_id in (select new_texts.run_id from new_texts)
),

-- Words become texts' sums before they meet texts: of a million texts there are hundreds of millions.
sums as (
    select
        counts.unit_key,
        count(*) as n_words,
        count(*) filter (where removed.word is null) as n_left
    from counts
    left join removed
        on
            counts.run_id = removed.run_id
            and counts.word = removed.word
    group by counts.unit_key
),

words_kept as (
    select
        new_texts.unit_key,
        new_texts.terms_fingerprint,
        -- Words are removed in our own scheme alone.
        coalesce(if(new_texts.scheme = 'words', sums.n_left, sums.n_words), 0) as n_words
    from new_texts
    left join sums on new_texts.unit_key = sums.unit_key
)

select * from words_kept
