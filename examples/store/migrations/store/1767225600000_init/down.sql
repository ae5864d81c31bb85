DROP TABLE public.purchase;
DROP TABLE public.product;
DROP TABLE public.customer;
