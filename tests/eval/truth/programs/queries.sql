-- SPDX-License-Identifier: GPL-2.0-only
create table customers (id integer primary key, region integer, name text);
create table orders (id integer primary key, customer integer, amount integer, day integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
	insert into customers select i, i * 7919 % 23, 'customer ' || (i * 31 % 997) from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 8000)
	insert into orders select i, 1 + i * 7919 % 2000, i * 613 % 10007, i % 365 from n;
create index by_customer on orders (customer);
select region, count(*), sum(amount), max(day) from customers join orders
	on customers.id = orders.customer where day between 30 and 200 group by region order by 3 desc;
select count(distinct name), avg(length(name)) from customers where name like '%9%';
select count(*) from orders a join orders b on a.customer = b.customer and a.day < b.day
	where a.amount > 9000;
update orders set amount = amount + 1 where day % 7 = 3;
select sum(amount) from orders;
