create table machines (
  id int generated always as identity primary key,
  name text not null,
  key bytea not null unique check (length(key) = 32),
  labels jsonb not null,
  ephemeral boolean not null,
  invite text not null,
  enrolled timestamptz not null default now(),
  seen timestamptz,
  program text,
  root bigint,
  policy bigint,
  people bigint,
  trouble text,
  stopped text,
  changed timestamptz not null default now()
);
create index machines_changed on machines (changed);

create table invites (
  id text primary key,
  uses int not null,
  last_used timestamptz not null default now()
);

create table chains (
  id int generated always as identity primary key,
  machine int not null references machines,
  store text not null,
  workspace text not null,
  begins bigint not null,
  begins_hash bytea not null,
  seq bigint not null,
  hash bytea not null check (length(hash) = 32),
  shipped timestamptz,
  sealed bigint not null default 0,
  cut bigint not null default 0,
  cut_hash bytea,
  stopped text,
  unique (machine, store)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

create table segments (
  arrived date not null default (now() at time zone 'utc')::date,
  chain int not null,
  first bigint not null,
  last bigint not null,
  hash bytea not null,
  body bytea not null,
  primary key (chain, first, arrived)
) partition by range (arrived);
-- It is compressed already.
alter table segments alter column body set storage external;

create table calls (
  arrived date not null default (now() at time zone 'utc')::date,
  at timestamptz not null,
  chain int not null,
  seq bigint not null,
  number bigint,
  tool text not null,
  class text,
  decision text,
  code text,
  rule text,
  principal text,
  person text,
  ms int,
  primary key (chain, seq, arrived)
) partition by range (arrived);
create index calls_at on calls (at);
create index calls_stopped on calls (at) where decision in ('ask', 'deny');

create table documents (
  number bigint primary key,
  text text not null,
  pushed timestamptz not null default now()
);

create table leaves (
  n bigint primary key,
  chain int not null,
  seq bigint not null,
  hash bytea not null
);
create index leaves_chain on leaves (chain, n desc);
create table seals (
  size bigint primary key,
  at timestamptz not null default now(),
  note text not null,
  -- The right edge of the tree, enough to append to it.
  frontier bytea not null
);
create table turns (
  name text primary key,
  at timestamptz not null default '-infinity'
);
insert into turns (name) values ('seal'), ('maintain');
