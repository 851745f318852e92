{{ config(materialized="by_run") }}

with

prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

items as (
    select
        run_id,
        prompt_id,
        n,
        {{ words_of("item") }} as words
    from {{ run_rows("int_prices_items") }}
    where item is not null
),

prompt_words as (
    select
        run_id,
        prompt_id,
        unnest(words) as word,
        n
    from items
),

word_counts as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        prompt_words.word,
        sum(prompt_words.n) as n
    from prompt_words
    inner join prompt_groups
        on
            prompt_words.run_id = prompt_groups.run_id
            and prompt_words.prompt_id = prompt_groups.prompt_id
    group by all
),

item_words as (
    select
        *,
        n / sum(n) over (partition by run_id, mitigation, attribute, group_name) as share,
        row_number() over (
            partition by run_id, mitigation, attribute, group_name order by n desc, word asc
        ) as word_rank
    from word_counts
    -- The source shows the most frequent; rare names of single places are not informative.
    qualify word_rank <= 200
)

{{ contracted("item_words") }}
