-- Roots of whole subtrees of the log of seals, of every eighth height: they never change, and shorten every proof.
create table subtrees (
  height smallint not null,
  n bigint not null,
  hash bytea not null check (length(hash) = 32),
  primary key (height, n)
);
-- What the server and whoever administers did: a chain of its own, which is sealed as chain 0.
create table acts (
  seq bigint primary key,
  hash bytea not null check (length(hash) = 32),
  body text not null
);
-- Why a machine does not take the newest seal; when it said that it leaves.
alter table machines
  add column seal_refused text,
  add column gone timestamptz;
