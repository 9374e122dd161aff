-- Door: requests held open, in line order, by whichever instance has them.
-- A ticket's stands are kept newest first, each as instance, id and flags:
-- 1 wants no place, 2 came with a ticket issued for it.

function F.stands(number)
  local raw = call('HGET', K.stands, F.id(number))
  return raw and unpack_(raw) or {}
end

function F.setStands(number, list)
  if #list == 0 then call('HDEL', K.stands, F.id(number))
  else call('HSET', K.stands, F.id(number), pack(list)) end
end

-- stand puts the caller's request with a ticket at the door and returns how
-- long it may stay.
function F.stand(t, o, id, noPlace, fresh)
  local list = F.stands(t.number)
  table.insert(list, 1, { me, id, (noPlace and 1 or 0) + (fresh and 2 or 0) })
  F.setStands(t.number, list)
  S.atdoor = S.atdoor + 1
  t.called = false
  call('ZREM', K.due, F.id(t.number))
  F.setClass(t, t.class == GUEST and GUEST or DOOR)
  F.put(t)
  return S.doorwait + min(o.turn, 10 * SEC)
end

-- standGuest puts a request at the door that has no place, behind everybody.
function F.standGuest(o, id)
  local t = { number = S.number, member = F.ordinary(S.number, 0), class = GUEST, seen = n, at = 0, gap = 0,
    asked = 0, issued = 0, rank = 0, client = '' }
  S.number = S.number + 1
  call('ZADD', K[GUEST], 0, t.member)
  return F.stand(t, o, id, true, false), t.number
end

function F.firstStanding()
  local a, b = call('ZRANGE', K[DOOR], 0, 0)[1], call('ZRANGE', K[GUEST], 0, 0)[1]
  if a and b then return a < b and a or b end
  return a or b
end

-- firstHeard is the first at the door whose instance can be told. Those of one
-- that does not answer are taken away from the door.
function F.firstHeard()
  for _ = 1, 16 do
    local m = F.firstStanding()
    if not m then return nil end
    local s = F.stands(F.numberOf(m))[1]
    local r = s and F.instance(s[1])
    if r and not F.mute(r) then return m end
    if r then F.giveBack(s[1], false) end
    if not F.takeAway(s[1]) then return nil end
  end
end

function F.mute(r) return r.owed and S.beat - r.owed > MUTE or n - r.last > SUSPECT end

-- takeAway takes the requests of an instance away from the door, a batch in a
-- call; true when that was all. Should it still be there, it learns that it has
-- to ask again for them.
function F.takeAway(name)
  for _, k in ipairs({ DOOR, GUEST }) do
    for _, m in ipairs(call('ZRANGE', K[k], 0, -1)) do
      if taken >= BATCH then return false end
      if F.unstandAll(F.numberOf(m), name) then taken = taken + 1 end
    end
  end
  return true
end

-- settle lets in whoever is at the door, in line order, as far as slots are
-- free and not kept for somebody ahead who is away.
function F.settle()
  for _ = 1, BATCH do
    local free = F.free()
    if free <= 0 then break end
    local m = F.firstHeard()
    if not m then break end
    local t = F.get(F.numberOf(m))
    local c = F.ghostly(F.before(m), t.number)
    if F.claims(c) + (c.ghosts or 0) >= free then
      if not F.keptEnough() then return end
      F.passAhead(m)
    end
    F.grant(t)
  end
  if S.keeping == 1 and (F.free() <= 0 or call('ZCARD', K[POLLED]) + call('ZCARD', K[CALLED]) == 0) then
    S.keeping = 0
  end
end

-- passAhead takes the claims of those ahead, so that m can be let in.
function F.passAhead(m)
  for _, k in ipairs({ POLLED, CALLED }) do
    for _, ahead in ipairs(call('ZRANGEBYLEX', K[k], '-', '(' .. m, 'LIMIT', 0, BATCH)) do
      local t = F.get(F.numberOf(ahead))
      if k == POLLED then F.setClass(t, PASSED) else
        F.setClass(t, ABSENT)
        F.setDue(t, t.seen + F.life(t))
      end
      F.put(t)
      S.passed = S.passed + 1
    end
  end
end

-- takeStands takes all requests with a ticket away from the door.
function F.takeStands(t)
  local list = F.stands(t.number)
  S.atdoor = S.atdoor - #list
  F.setStands(t.number, {})
  return list
end

-- grant lets in the newest request of a ticket; the others learn that the
-- ticket is spent.
function F.grant(t)
  local list = F.takeStands(t)
  F.drop(t, 'admitted')
  local given = false
  for _, s in ipairs(list) do
    if not given and F.mail(s[1], s[2], 'A') then
      given = true
      if t.class ~= GUEST then F.fly(t, s[1], F.instance(s[1]).sent) end
      F.admit(s[1], F.waiting())
    else F.mail(s[1], s[2], 'S') end
  end
end

-- dismiss takes a ticket out of the line with all its requests.
function F.dismiss(t, why)
  for _, s in ipairs(F.takeStands(t)) do F.mail(s[1], s[2], 'S') end
  F.drop(t, why)
end

-- unstand takes one request away; it returns its flags, nil when it is not
-- there, and whether it was the last of its ticket.
function F.unstand(number, name, id)
  local list = F.stands(number)
  for k, s in ipairs(list) do
    if s[1] == name and s[2] == id then
      table.remove(list, k)
      F.setStands(number, list)
      S.atdoor = S.atdoor - 1
      return s[3], #list == 0
    end
  end
end

-- leave gives up a stand: number, id, whether the client hung up.
function F.leave(number, id, gone)
  local flags, last = F.unstand(number, me, id)
  if not flags then body[1] = 'OVER'; return end -- the mail says how
  local t = F.get(number)
  if not gone then S.timeouts = S.timeouts + 1 end
  body[1] = 'BUSY'
  if t.class == GUEST then F.drop(t, 'expired'); return end
  if last and gone and flags >= 2 and not t.polled then F.evict(t); return end
  local c = F.ghostly(F.before(t.member), t.number)
  local o = F.outlook(c)
  if last then
    t.seen = n
    local k = t.polled and POLLED or FRESH
    F.await(t, k, F.pollAfter(o, k == FRESH))
  end
  if flags % 2 == 1 then return end
  body[1] = 'WAITING'
  F.addPlace(t, c, o, F.stateOf(t.class), 0, flags >= 2)
end

-- lapseInstance gives back what an instance held that is gone. With many at its
-- door, the next heartbeat goes on with it; no call of its own counts any more.
function F.lapseInstance(name, r)
  F.heard(r)
  S.out, S.used = S.out - r.lease, S.used - r.used
  r.lease, r.used, r.era = 0, 0, -1
  F.touch(name, r)
  F.giveBack(name, true)
  if not F.takeAway(name) then return false end
  call('DEL', F.mailKey(name))
  r.gone = true
  F.touch(name, r)
  seen[name] = false
  S.lost = (S.lost or 0) + 1
  return true
end

-- unstandAll takes the requests with a ticket that one instance holds away; it
-- reports whether there were some.
function F.unstandAll(number, name)
  local list = F.stands(number)
  local kept = {}
  for _, s in ipairs(list) do
    if s[1] == name then F.mail(name, s[2], 'L') else kept[#kept + 1] = s end
  end
  if #kept == #list then return false end
  S.atdoor = S.atdoor - (#list - #kept)
  F.setStands(number, kept)
  if #kept > 0 then return true end
  local t = F.get(number)
  if t.class == GUEST then F.drop(t, 'expired'); return true end
  t.seen = n
  F.await(t, t.polled and POLLED or FRESH, 2 * SEC)
  if not t.polled then F.orphan(t) end
  return true
end
