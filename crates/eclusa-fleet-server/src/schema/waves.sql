-- Machines with one of these labels, such as `team=web`, are offered the version whatever their place is.
alter table rollouts add column waves text[] not null default '{}';
