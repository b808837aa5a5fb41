-- An insert wrote twelve projections besides its rows, which took it longer than the rows. The first merge of new parts writes them
-- instead, once for many inserts. Until then reports read the rows of these parts, some seconds of traffic. Servers before 26.6
-- do not have the settings and go on as before.
-- requires setting: materialize_projections_on_merge
alter table click modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

-- requires setting: materialize_projections_on_merge
alter table impression modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;
