-- Order: the line is a sorted set whose members all have score 0, so that they
-- lie in the order of their bytes, and Redis tells ranks and counts ranges in
-- logarithmic time. Each class of tickets, save the absent, is such a set too.
--
-- A member is '@', the key a ticket is in line by, and MAXN less its number:
-- at the same key, the later ticket is of the higher rank and stands ahead. Who
-- was promoted has any bytes between those of the neighbours instead of '@' and
-- the key; at the front, that is ' ' and a counter.

function F.suffix(number) return struct.pack('>I8', MAXN - number) end
function F.ordinary(number, lead) return '@' .. struct.pack('>I8I8', number - lead, MAXN - number) end
function F.numberOf(m) return MAXN - struct.unpack('>I8', string.sub(m, -8)) end
function F.id(number) return F.int(number) end

-- between makes a member of a number after a and before b; b may be nil.
function F.between(a, b, number)
  if b and string.byte(b) >= 64 and (a == '' or string.byte(a) < 64) then
    S.up = S.up + 1
    local m = ' ' .. struct.pack('>I8I8', 2 ^ 50 + S.up, MAXN - number)
    if m > a then return m end
  end
  if b and a == '' and string.byte(b) < 64 then
    S.down = S.down + 1
    local m = ' ' .. struct.pack('>I8I8', 2 ^ 50 - S.down, MAXN - number)
    if m < b then return m end
  end
  local i = 1
  while true do
    local x, y = string.byte(a, i) or 0, b and (string.byte(b, i) or 0) or 256
    if y - x > 1 then
      return F.padded(a, i - 1) .. string.char(floor((x + y) / 2)) .. F.suffix(number)
    elseif y - x == 1 then
      local j = i + 1
      while (string.byte(a, j) or 0) == 255 do j = j + 1 end
      local z = string.byte(a, j) or 0
      return F.padded(a, j - 1) .. string.char(floor((z + 256) / 2)) .. F.suffix(number)
    end
    i = i + 1
  end
end

function F.padded(a, len)
  if #a >= len then return string.sub(a, 1, len) end
  return a .. string.rep('\0', len - #a)
end

-- place makes a member that stands at a position, 1 being the front.
function F.memberAt(pos, number)
  local a = pos > 1 and call('ZRANGE', K.line, pos - 2, pos - 2)[1] or ''
  local b = call('ZRANGE', K.line, pos - 1, pos - 1)[1]
  if not b and a == '' then b = '@' end
  return F.between(a, b, number)
end

-- promotedRun counts the promoted at the front, up to the first that is not.
function F.promotedRun(member)
  local run = call('ZLEXCOUNT', K.line, '-', '(@')
  local inside = member and member < '@'
  for k = 1, 64 do -- those promoted into the ordinary ones that have left since
    local m = call('ZRANGE', K.line, run, run)[1]
    if not m or not F.get(F.numberOf(m)).pro then break end
    run = run + 1
    inside = inside or m == member
  end
  return run, inside
end

-- A ticket's record is an array, to be small: 1 member, 2 class, 3 seen,
-- 4 called at, 5 observed gap, 6 delay last given, 7 flags, 8 issued, 9 rank,
-- 10 client. Flags: 1 polled, 2 called, 4 own pace, 8 promoted,
-- 16 hopes to be put forward.
function F.get(number)
  local raw = call('HGET', K.tickets, F.id(number))
  if not raw then return nil end
  local r = unpack_(raw)
  local f = r[7]
  return { number = number, member = r[1], class = r[2], seen = r[3], at = r[4], gap = r[5], asked = r[6],
    polled = f % 2 >= 1, called = f % 4 >= 2, own = f % 8 >= 4, pro = f % 16 >= 8, hopes = f % 32 >= 16,
    issued = r[8], rank = r[9], client = r[10] }
end

function F.put(t)
  local f = (t.polled and 1 or 0) + (t.called and 2 or 0) + (t.own and 4 or 0) + (t.pro and 8 or 0) + (t.hopes and 16 or 0)
  call('HSET', K.tickets, F.id(t.number),
    pack({ t.member, t.class, t.seen, t.at, t.gap, t.asked, f, t.issued, t.rank, t.client }))
end

-- setClass moves a ticket from class to class; F.put has to follow.
function F.setClass(t, k)
  if t.class == k then return end
  if t.class > 0 then call('ZREM', K[t.class], t.member) end
  if k > 0 then call('ZADD', K[k], 0, t.member) end
  t.class = k
end

-- enlist puts a new ticket, with its member and class, in line.
function F.enlist(t)
  call('ZADD', K.line, 0, t.member)
  if t.class > 0 then call('ZADD', K[t.class], 0, t.member) end
end

function F.delist(t)
  call('ZREM', K.line, t.member)
  if t.class > 0 then call('ZREM', K[t.class], t.member) end
end

-- before counts those ahead of a member, whether it is in line or not.
function F.before(m)
  local to = '(' .. m
  local c = { live = call('ZLEXCOUNT', K.line, '-', to) }
  for k = FRESH, GUEST do c[k] = call('ZLEXCOUNT', K[k], '-', to) end
  return c
end

-- all counts everybody.
function F.all()
  local c = { live = call('ZCARD', K.line) }
  for k = FRESH, GUEST do c[k] = call('ZCARD', K[k]) end
  return c
end

function F.claims(c) return c[POLLED] + c[CALLED] end
function F.standing(c) return c[DOOR] + c[GUEST] end
function F.present(c) return c[FRESH] + c[POLLED] + c[CALLED] + c[PASSED] + c[DOOR] end

-- waiting reports whether anybody present is not yet let in.
function F.waiting()
  return call('EXISTS', K[FRESH], K[POLLED], K[CALLED], K[PASSED], K[DOOR], K[GUEST]) > 0
end
