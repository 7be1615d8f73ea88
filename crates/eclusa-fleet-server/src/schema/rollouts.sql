-- How far a version of the policy is offered; where there is no row, to everyone.
create table rollouts (
  number bigint primary key references documents,
  version bigint not null,
  percent smallint not null check (percent between 0 and 100),
  -- It grows to everyone within this time, in five steps; null: by hand.
  over_seconds bigint check (over_seconds > 0),
  began timestamptz not null default now(),
  held boolean not null default false,
  why text
);
-- Which machines could not put a version in force that they were offered.
create table load_failures (
  machine int not null references machines,
  version bigint not null,
  why text not null,
  at timestamptz not null default now(),
  primary key (machine, version)
);
alter table machines
  add column stale text,
  add column unshipped bigint not null default 0,
  add column unshipped_since timestamptz,
  add column revoked boolean not null default false;
