-- Flights: what an instance may take with it when it is lost. Its pages, and the
-- places of those at its door who were never told of them. Their owners come to
-- another instance, with the old ticket or with none, before the loss is known
-- or after, and get their places back either way.

-- fly remembers which instance has the page of a ticket, until that is
-- delivered: should the instance be lost before, the place was lost for no fault
-- of the owner's. A flight is an array: 1 instance, 2 client, if its owner was
-- never told of the ticket, 3 the mail that granted it, 4 the ticket that the
-- owner was given since.
function F.fly(t, name, mail)
  call('HSET', K.flying, F.id(t.number), pack({ name, t.polled and '' or t.client, mail, 0 }))
end

function F.flight(number)
  local raw = call('HGET', K.flying, F.id(number))
  return raw and unpack_(raw)
end

-- landed is for pages that were delivered. One that was given up before that is
-- spent after all.
function F.landed(list)
  for number in string.gmatch(list, '%d+') do
    if call('HDEL', K.flying, number) == 0 and F.became(tonumber(number)) == 4 then F.note(tonumber(number), 'admitted') end
  end
end

-- follow notes the new ticket of somebody who asks again with one that is
-- flying at another instance: who has cause to ask again soon.
function F.follow(number, t)
  local f = F.flight(number)
  if f and f[1] ~= me and f[4] == 0 then
    f[4] = t.number
    call('HSET', K.flying, F.id(number), pack(f))
    t.hopes = true
  end
end

-- giveBack gives the places back of those whose pages an instance had that is
-- lost, or, unless all, of those that it was not heard to have.
function F.giveBack(name, all)
  local r = F.instance(name)
  if not all and r.sent == r.back then return end
  F.recall(name, r)
  local flights = call('HGETALL', K.flying)
  for k = 1, #flights, 2 do
    local f = unpack_(flights[k + 1])
    if f[1] == name and (all or f[3] > r.acked) then F.crash(tonumber(flights[k]), f) end
  end
  r.back = r.sent
  F.touch(name, r)
end

-- recall takes slots back that were given with mail which has never left Redis,
-- as the instance has not called since. Should it call after all, it learns that
-- it has to ask again.
function F.recall(name, r)
  F.heard(r)
  local mail = F.mailKey(name)
  for k, m in ipairs(call('LRANGE', mail, 0, -1)) do
    local number, stand, verdict = string.match(m, '^(%d+) (%S+) (%u)$')
    if verdict == 'A' and tonumber(number) > (r.told or r.sent) then
      call('LSET', mail, k - 1, number .. ' ' .. stand .. ' L')
      F.unadmit(r)
    end
  end
end

-- crash gives the place of one page back: to the new ticket of its owner, if
-- there is one, and otherwise to the old one.
function F.crash(number, f)
  call('HDEL', K.flying, F.id(number))
  local t = f[4] > 0 and F.get(f[4]) or F.newer(f[2], number)
  if t then F.putForward(t, number) elseif f[4] == 0 then
    F.note(number, 'lost')
    F.orphaned(f[2], number)
  end
end

-- stray gives the place of a page back that the caller does not have: it never
-- got the answer, or nobody waited for it any more.
function F.stray(number)
  local f = F.flight(number)
  if f and f[1] == me then F.crash(number, f) end
end

-- putForward has a ticket stand where an older one would.
function F.putForward(t, key)
  local m = '@' .. struct.pack('>I8I8', key, MAXN - t.number)
  if t.pro or m >= t.member then return end
  F.delist(t)
  t.member, t.hopes = m, false
  F.enlist(t)
  F.put(t)
end

-- orphan is for the ticket of somebody who was never told of it, and whose
-- instance is lost: another one that the client got since takes its place, or
-- the next that it asks for is this one.
function F.orphan(t)
  local other = not t.pro and F.newer(t.client, t.number)
  if not other then return F.orphaned(t.client, t.number) end
  F.putForward(other, (struct.unpack('>I8', string.sub(t.member, 2, 9))))
  F.drop(t, 'expired')
end

-- newer is the latest ticket of a client if it is later than a number.
function F.newer(client, number)
  if client == '' then return nil end
  local latest = tonumber(call('HGET', K.latest, client) or 0)
  local t = latest > number and F.get(latest)
  return t and not t.pro and t or nil
end

function F.orphaned(client, number)
  if client == '' then return end
  S.orphaned = S.orphaned + call('HSET', K.orphans, client, F.id(number))
  S.orphanat = n
end

-- adopt is the orphan of a client, if there is one.
function F.adopt(client)
  if S.orphaned == 0 or client == '' then return nil end
  if n - (S.orphanat or 0) > (S.grace > 0 and S.grace or S.ttl) then -- nobody comes any more
    call('UNLINK', K.orphans)
    S.orphaned = 0
    return nil
  end
  local id = call('HGET', K.orphans, client)
  if not id then return nil end
  call('HDEL', K.orphans, client)
  S.orphaned = S.orphaned - 1
  local t = F.get(tonumber(id))
  if not t and F.became(tonumber(id)) == 4 then return F.putBack(tonumber(id), S.ms) end
  if t and t.class ~= DOOR and not t.polled and not F.dead(t) then return t end
end
