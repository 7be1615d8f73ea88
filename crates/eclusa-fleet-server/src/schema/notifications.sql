-- Who is told of what waits. One row for a question and a receiver: whichever instance claims it sends it.
create table notifications (
  id bigint generated always as identity primary key,
  question bigint not null,
  target text not null,
  due timestamptz not null,
  attempts int not null default 0,
  sent timestamptz,
  error text,
  unique (question, target)
) with (autovacuum_vacuum_scale_factor = 0.01);
create index notifications_due on notifications (due) where sent is null;
