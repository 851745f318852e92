{%- set runs = new_runs(ref("int_prices_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_prices_runs") }}

with

prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
    where {{ is_of_runs("run_id", runs) }}
),

items as (
    select
        run_id,
        run_state,
        prompt_id,
        n,
        {{ words_of("item") }} as words
    from {{ ref("int_prices_items") }}
    where
        item is not null
        and {{ is_of_runs("run_id", runs) }}
),

prompt_words as (
    select
        run_id,
        run_state,
        prompt_id,
        unnest(words) as word,
        n
    from items
),

word_counts as (
    select
        prompt_groups.run_id,
        prompt_words.run_state,
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
    -- The source shows the most frequent; a tail of names of single places tells nothing.
    qualify word_rank <= 200
)

select * from item_words
