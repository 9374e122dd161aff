-- Enter: a page request is judged. This is enter.go of package memory.
--
-- Arguments: number, issued, client, rank, flags, stand. Flags are letters:
-- F front, N no place, U unlimited, H may hold, B was at the door before.

function F.readEntry()
  local flags = F.arg(5)
  local function has(x) return string.find(flags, x, 1, true) ~= nil end
  E = { number = F.num(1), issued = F.num(2), client = F.arg(3), rank = F.num(4), stand = F.arg(6),
    back = has('B'), front = has('F'), noPlace = has('N'), unlimited = has('U'), hold = has('H') }
end

function F.enter()
  F.readEntry()
  if E.noPlace and not E.hold then return F.enterGlance() end
  local t = F.find(E.number, E.issued)
  if not t and not E.noPlace then t = F.adopt(E.client) end
  if t and t.class ~= GUEST then return F.enterHolder(t) end
  return F.enterNewcomer()
end

function F.admitMe()
  F.admit(me, F.waiting())
  body[1] = 'ADMITTED'
end

function F.enterGlance()
  if F.free() > 0 and not F.waiting() then return F.admitMe() end
  body[1] = 'BUSY'
end

function F.atDoor(until_, number)
  body[1], body[2], body[3] = 'DOOR', F.int(until_), F.id(number)
end

function F.enterHolder(t)
  if t.client == '' then F.own(t, E.client) end
  local wasCalled = t.called and S.mode == 0
  if t.called then F.learnReload(n - t.at) end
  local c, own = F.ghostly(F.before(t.member), t.number), t.class
  local since = F.sight(t)
  if own ~= DOOR and F.admissible(t, c) then
    F.drop(t, 'admitted')
    F.fly(t, me, 0)
    body[2] = F.id(t.number)
    return F.admitMe()
  end
  local o = F.outlook(c)
  local p = F.pause(t, o, false)
  local stand = own == DOOR or wasCalled or E.back or F.comes(o, max(S.doorwait, F.horizon(F.backIn(t, p))), c)
  if stand and E.hold and S.atdoor < S.doormax then
    F.atDoor(F.stand(t, o, E.stand, E.noPlace, false), t.number)
    return F.addPlace(t, c, o, F.stateOf(DOOR), since, false)
  end
  if own == DOOR then F.put(t) else F.await(t, POLLED, p) end
  if E.noPlace then body[1] = 'BUSY'; return end
  body[1] = 'WAITING'
  F.addPlace(t, c, o, F.stateOf(t.class), since, false)
end

-- admissible reports whether a ticket, with those ahead, may have a slot now.
function F.admissible(t, c)
  local free = F.free()
  if free <= 0 or F.standing(c) > 0 then return false end
  if F.claims(c) + (c.ghosts or 0) < free then return true end
  if not F.keptEnough() then return false end
  F.passAhead(t.member)
  return true
end

-- newcomerMember is where a newcomer would stand: behind everybody, save for a
-- head start or a right to the front.
function F.newcomerMember()
  if not E.noPlace then
    if E.front then return F.memberAt(F.promotedRun() + 1, S.number) end
    if E.rank > 0 and S.ranklead > 0 then return F.ordinary(S.number, F.lead(E.rank)) end
  end
  return F.ordinary(S.number, 0)
end

function F.enterNewcomer()
  if S.mode == 2 then body[1] = 'SHUT'; return end
  local member = F.newcomerMember()
  local c = F.ghostly(F.before(member), S.number)
  local free = F.free()
  if free > F.claims(c) + c[FRESH] + (c.ghosts or 0) and F.standing(c) == 0 and (not E.noPlace or not F.waiting()) then
    -- Overtaking counts as an arrival: head starts are measured in those.
    if c.live < call('ZCARD', K.line) then S.number = S.number + 1 end
    F.admitMe()
    return F.lend()
  end
  local o = F.outlook(c)
  local p = F.pollAfter(o, true)
  local toDoor = E.hold and S.atdoor < S.doormax and (E.back or F.near(F.outlook(c, 1), F.patience(p)))
  if E.noPlace then
    if toDoor then F.atDoor(F.standGuest(o, E.stand)) else body[1] = 'BUSY' end
    return
  end
  if F.overLimits(toDoor) then S.refused = S.refused + 1; return end
  F.join(member, c, o, p, toDoor)
end

function F.overLimits(toDoor)
  if S.perclient > 0 and E.client ~= '' and not E.unlimited and
    tonumber(call('HGET', K.clients, E.client) or 0) >= S.perclient then
    body[1] = 'TOOMANY'
    return true
  end
  if S.maxwaiting > 0 and call('ZCARD', K.line) >= S.maxwaiting and not toDoor and not E.front then
    body[1] = 'FULL'
    return true
  end
end

function F.join(member, c, o, p, toDoor)
  local t = F.issue(E.client, E.rank)
  t.member = member
  if E.front then t.pro = true; S.promoted = S.promoted + 1 end
  if E.number > 0 then F.follow(E.number, t) end
  if not toDoor then
    p = F.soon(t, p)
    F.enlist(t)
    F.await(t, FRESH, p)
    body[1] = 'WAITING'
    return F.addPlace(t, c, o, F.stateOf(FRESH), -1, true)
  end
  t.class = DOOR
  F.enlist(t)
  t.asked = floor(p / MS)
  F.atDoor(F.stand(t, o, E.stand, false, true), t.number)
  F.addPlace(t, c, o, F.stateOf(DOOR), -1, true)
end

-- lend gives the caller slots to admit with by itself, while nobody waits: a
-- share of what is left, so that others find some too.
function F.lend()
  if F.busy() then return end
  if S.cap == 0 then return F.lendMore(256) end
  F.lendMore(ceil((S.cap - S.out) / (2 * max(1, call('HLEN', K.inst)))))
end

-- lendBase sees to it that an instance has some, should Redis be away next.
function F.lendBase()
  if F.busy() then return end
  local base = S.cap == 0 and 256 or ceil(S.cap / (2 * max(1, call('HLEN', K.inst))))
  F.lendMore(min(base - F.instance(me).lease, S.cap == 0 and 256 or S.cap - S.out))
end

function F.lendMore(extra)
  if extra <= 0 then return end
  local r = F.instance(me)
  r.lease = r.lease + extra
  S.out = S.out + extra
  F.touch(me, r)
  S.lent = S.lent + extra
end

-- busy reports whether instances must ask for each slot.
function F.busy()
  return S.mode ~= 0 or S.inflow > 0 or n < S.held or S.cap > 0 and S.out > S.cap or F.waiting()
end

-- ghostly adds to the counts ahead those who, by what is known from before a
-- loss of the room, stood there and have not come back yet.
function F.ghostly(c, number)
  if not S.ghosts or n >= S.ghostend then return c end
  local g = S.ghosts
  local rank = 0
  for k = 1, #g - 3, 2 do
    local a, ra, b, rb = g[k], g[k + 1], g[k + 2], g[k + 3]
    if number >= b then rank = rb
    elseif number > a then rank = ra + (rb - ra) * (number - a) / (b - a); break
    else rank = max(rank, k == 1 and 0 or ra); break end
  end
  local gone = max(S.ghostrate * (n - S.ghostat), S.admitted - S.ghostadm)
  local left = floor(rank - gone - c.live)
  if left > 0 then c.ghosts = left end
  return c
end
