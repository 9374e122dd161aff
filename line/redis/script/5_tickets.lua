-- Tickets: issued, found, put back after a loss, lapsing and ending.

local ENDED = { admitted = 1, expired = 2, removed = 3, lost = 4 }
local ENDED_SIZE = 32768

function F.issue(client, rank)
  local t = { number = S.number, class = FRESH, seen = n, at = 0, gap = 0, asked = 0,
    issued = S.ms, rank = rank, client = '' }
  S.number = S.number + 1
  F.own(t, client)
  if client ~= '' then call('HSET', K.latest, client, F.id(t.number)) end
  S.queued = S.queued + 1
  return t
end

function F.own(t, client)
  t.client = client
  if client ~= '' then call('HINCRBY', K.clients, client, 1) end
end

function F.lead(rank) return min(rank * S.ranklead, 2147483647) end

-- sight records that the owner was seen; it returns the time since the last
-- time, negative when there was none.
function F.sight(t)
  local since = t.seen == NEVER and -1 or n - t.seen
  if t.class == FRESH then
    F.firstPoll(t, since)
    F.learnGap(t, since)
  elseif t.class == ABSENT and not t.polled then
    S.f_due = max(S.f_due - 1, S.f_came)
    F.firstPoll(t, since)
  elseif t.class == POLLED or t.class == PASSED then
    F.learnGap(t, since)
  end
  t.seen, t.polled = n, true
  return since
end

function F.setDue(t, at) call('ZADD', K.due, string.format('%.17g', at), F.id(t.number)) end

-- await has a ticket wait to be seen again after p.
function F.await(t, k, p)
  t.called = false
  t.asked = floor(p / MS)
  local d = F.claimFor(t)
  if k == FRESH then d = max(F.presence(t), S.f_gap * 1.5 + SEC) end
  F.setDue(t, n + d)
  F.setClass(t, k)
  F.put(t)
end

function F.life(t)
  if S.grace > 0 and not t.polled then return min(S.ttl, S.grace) end
  return S.ttl
end

-- dead reports whether a ticket's life is over. At the door nobody dies.
function F.dead(t) return t.class ~= DOOR and t.seen ~= NEVER and n - t.seen >= F.life(t) end

-- drop takes a ticket out of the line.
function F.drop(t, why)
  F.delist(t)
  local id = F.id(t.number)
  call('HDEL', K.tickets, id)
  call('ZREM', K.due, id)
  F.note(t.number, why)
  if t.client ~= '' and call('HINCRBY', K.clients, t.client, -1) <= 0 then
    call('HDEL', K.clients, t.client)
    call('HDEL', K.latest, t.client)
  end
end

-- note remembers what became of one of the latest tickets.
function F.note(number, why)
  local cell = F.int(number % ENDED_SIZE)
  local had = call('HGET', K.ended, cell)
  if not had or number >= tonumber(string.match(had, '^%d+')) then
    call('HSET', K.ended, cell, F.id(number) .. ' ' .. ENDED[why])
  end
end

function F.evict(t)
  S.evicted = S.evicted + 1
  F.drop(t, 'expired')
end

-- became is what is remembered of a number: 0 when nothing is.
function F.became(number)
  local had = call('HGET', K.ended, F.int(number % ENDED_SIZE))
  if not had then return 0 end
  local k, why = string.match(had, '^(%d+) (%d)$')
  return tonumber(k) == number and tonumber(why) or 0
end

-- find is the live ticket of a number; one that is missing although it was
-- given before the room began, or lost its latest state, is put back.
function F.find(number, issued)
  if number <= 0 or number >= MAXN then return nil end
  local t = F.get(number)
  if not t then return F.putBack(number, issued) end
  if F.dead(t) then F.evict(t); return nil end
  return t
end

function F.putBack(number, issued)
  local became = F.became(number)
  if became ~= 4 then
    if n >= S.ret or number >= S.number0 or S.cms - issued > 86400000 or became ~= 0 then return nil end
  else F.note(number, 'admitted') end -- once
  local t = { number = number, class = ABSENT, seen = NEVER, at = 0, gap = 0, asked = 0, polled = true,
    issued = issued, rank = 0, client = '', member = F.ordinary(number, 0) }
  F.enlist(t)
  F.put(t)
  F.setDue(t, n + S.ttl)
  S.returned = S.returned + 1
  return t
end

-- lapse is for a ticket whose due time has passed: who is late loses the claim,
-- then becomes absent, and in the end the place.
function F.lapse(t)
  if t.class == POLLED then
    F.setClass(t, PASSED)
    F.setDue(t, max(n, t.seen + F.presence(t)))
  elseif t.class == ABSENT then
    if F.dead(t) then F.evict(t); return end
    F.setDue(t, (t.seen == NEVER and n or t.seen) + F.life(t))
  elseif t.class == DOOR then
    call('ZREM', K.due, F.id(t.number))
    return
  else
    if t.class == FRESH then F.firstCount(0) end
    F.setClass(t, ABSENT)
    F.setDue(t, max(n, t.seen + F.life(t)))
  end
  F.put(t)
end

function F.lapses()
  local most = op == 'advance' and BATCH or FEW
  local due = call('ZRANGEBYSCORE', K.due, '-inf', string.format('%.17g', n), 'LIMIT', 0, most)
  S.late = #due == most
  for _, id in ipairs(due) do
    local t = F.get(tonumber(id))
    if t then F.lapse(t) else call('ZREM', K.due, id) end
  end
end

-- addPlace answers a place.
function F.addPlace(t, c, o, state, since, fresh)
  local p = c.live + 1
  local told = max(p, floor(p + (c.ghosts or 0)))
  local flags = (t.pro and 1 or 0) + (fresh and 2 or 0)
  for _, x in ipairs({ t.number, t.issued, state, told, F.eta(told, o), t.asked, since, flags }) do
    body[#body + 1] = F.int(x)
  end
end

-- stateOf is what a class is called to the outside.
local STATES = { [ABSENT] = 3, [FRESH] = 0, [POLLED] = 0, [CALLED] = 1, [PASSED] = 0, [DOOR] = 2, [GUEST] = 2 }
function F.stateOf(k) return STATES[k] end
