-- What the list of the inbox shows and is chosen by, so that no text is read for it.
alter table questions
  add column headline text not null default '',
  -- Who may answer, of any requirement, now or later; empty: everybody whom the people document names.
  add column asked text[] not null default '{}',
  -- A digest of what is shown of the call itself. Questions are identical that have the same binding and show the same: a
  -- machine that shows something else under a binding that it knows is alone with it.
  add column shown text not null default '';
update questions set headline = coalesce(text->>'headline', ''), asked = array(
  select distinct name from jsonb_array_elements(requirements) r,
    jsonb_array_elements_text(coalesce(r->'of', '[]') || coalesce(jsonb_path_query_array(r, '$.then[*][1][*]'), '[]')) name),
  shown = coalesce((select encode(sha256(convert_to(string_agg(line::text, ' ' order by place), 'utf8')), 'hex')
    from jsonb_array_elements(questions.text->'lines') with ordinality l(line, place)
    where line->>'role' in ('tool', 'class', 'warning', 'argument', 'touch', 'change')), '');
create index questions_touched on questions (touched);
drop index questions_same;
create index questions_same on questions (binding, shown, number) where state = 'pending';
-- Also for what the planner knows of teams.
create index machines_team on machines ((labels->>'team'));
create index questions_pending on questions (number) where state = 'pending';

-- Who looks at the page: a digest of the cookie, and of what was signed for it, which opens nothing again.
create table sessions (
  id bytea primary key,
  proof bytea not null unique,
  person text not null,
  key text not null,
  expires timestamptz not null
);

-- Keys that somebody made with an invite, until they are signed into the people document.
create table pending_keys (
  id text primary key,
  invite text not null,
  person text not null,
  kind text not null,
  public text not null,
  credential text,
  origin text,
  at timestamptz not null default now()
);
create index pending_keys_invite on pending_keys (invite);
