-- shelter
-- written when the variables that choose columns and conditions are known

-- shop
-- written when the variables that choose columns and conditions are known
