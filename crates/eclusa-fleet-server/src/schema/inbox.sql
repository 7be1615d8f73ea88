create table questions (
  chain int not null references chains,
  id bigint not null,
  number bigint generated always as identity unique,
  machine int not null,
  binding text not null,
  tool text not null,
  principal text not null,
  conversation text not null,
  -- What is shown; null once the question is over.
  text jsonb,
  requirements jsonb not null,
  said jsonb not null,
  state text not null,
  asker_away boolean not null,
  changed bigint not null,
  created bigint not null,
  expires bigint not null,
  touched timestamptz not null default now(),
  refused text,
  primary key (chain, id)
) with (fillfactor = 80);
create index questions_open on questions (number) where state in ('pending', 'sent');
create index questions_machine on questions (machine) where state in ('pending', 'sent');
create index questions_same on questions (binding) where state = 'pending';
create index questions_late on questions (expires) where state in ('pending', 'sent');

create table votes (
  chain int not null,
  id bigint not null,
  person text not null,
  answer text not null,
  proof text not null,
  key text not null,
  statement text not null,
  signature text not null,
  refused text,
  at timestamptz not null default now(),
  primary key (chain, id, person)
);

create table messages (
  id bigint generated always as identity primary key,
  machine int not null,
  chain int not null,
  question bigint not null,
  person text not null,
  kind text not null,
  body jsonb not null,
  created timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.01);
create index messages_of on messages (machine, id);
create index messages_new on messages (created);

-- Up to which change of its queue the questions of a chain are here.
alter table chains add column mirrored bigint not null default 0;
