-- Turn: when a ticket's turn is expected, who is told to come, when the others
-- are to ask again, and what is learned of how they do. This is turn.go and
-- newcomers.go of package memory.

function F.share() return S.f_came / S.f_due end

function F.outlook(c, share)
  share = share or F.share()
  local w = c[POLLED] + c[CALLED] + c[PASSED] + c[DOOR] + c[GUEST] + share * c[FRESH] + (c.ghosts or 0)
  local o = { rank = -huge, turn = 0, pace = 0, wait = 0 }
  if S.cap > 0 then
    local free = S.cap - S.out
    local r = w - free + 1
    o.rank = r
    local slots = max(1, S.cap - S.dark)
    o.turn = F.untilTurn(max(r, 0), slots, free <= 0)
    o.pace = max(r, 0) / slots * F.steadyTime()
    o.wait = max(r, 0) / slots * F.calm()
  end
  if S.inflow > 0 then
    F.bucketFill()
    local r = w - S.bcredit / S.interval + 1
    o.rank = max(o.rank, r)
    r = max(r, 0) * S.interval / S.inflow
    o.turn, o.pace, o.wait = max(o.turn, r), max(o.pace, r), max(o.wait, r)
  end
  if S.mode ~= 0 then o.turn = huge end
  return o
end

function F.near(o, limit) return S.mode == 0 and o.turn <= limit and o.rank <= S.doormax end

-- comes reports whether somebody should come now who would be back only after
-- limit: the turn is sooner, or a slot is free and nobody at hand to take it.
function F.comes(o, limit, c)
  if F.near(o, limit) then return true end
  if S.mode ~= 0 or (c.ghosts or 0) > 0 then return false end
  if not F.idle() then return false end
  -- When many slots are free at once, as after a failure, those near the front
  -- are given the time to ask first: the depth grows by the cap with each step.
  return S.cap == 0 or o.rank <= max(1, S.cap * floor((n - S.idle) / (200 * MS)))
end

-- idle reports whether a slot is free that nobody is about to take.
function F.idle()
  local is = F.free() > call('ZCARD', K[DOOR]) + call('ZCARD', K[GUEST]) + call('ZCARD', K[CALLED])
  if not is then S.idle = n end
  return is
end

function F.horizon(back) return min(back, 10 * SEC) * 1.3 + 300 * MS + S.reload + F.detour() end

-- detour is by how much earlier people are told to come while an instance does
-- not hear of the line: a balancer may go on sending visitors to it, who then
-- have to ask once or twice more before they are at another. At the door they
-- stand in line order, however early they come.
function F.detour() return n < (S.astray or 0) and DETOUR or 0 end

function F.patience(back) return max(S.doorwait * 1.25, F.horizon(back)) end

function F.backIn(t, p)
  if t.own then return t.gap * MS end
  return p
end

-- pollAfter draws when to ask again, in whole milliseconds.
function F.pollAfter(o, first)
  local least = S.mode ~= 0 and 2 * SEC or SEC
  local most = min(90 * SEC, S.ttl / 3)
  if first and S.grace > 0 then most = min(most, S.grace / 2) end
  local d = min(0.6 * o.pace, call('ZCARD', K.line) * SEC / 500)
  d = max(d, min(0.05 * o.pace, 5 * SEC))
  d = min(max(d, least), max(most, least))
  d = d * (0.9 + 0.2 * math.random())
  if d < least then d = least * (1 + 0.1 * math.random()) end
  return floor(d / MS) * MS
end

-- soon has those ask again soon who may be put forward at any moment: their
-- pages were at an instance that may be lost.
function F.soon(t, p)
  if t.hopes and S.ms - t.issued < (LEASE + 2 * SEC) / MS then return min(p, 2 * SEC) end
  return p
end

function F.pause(t, o, first) return F.soon(t, F.pollAfter(o, first)) end

function F.eta(position, o)
  if S.mode ~= 0 then return -1 end
  if o.rank <= 0 then return 0 end
  local late, r = F.late(), F.drainRate()
  local d = late > 0 and o.wait or o.turn
  if r > 0 then d = position / r end
  d = d + late
  if d > 86400 * SEC or F.stalled(late) then return -1 end
  return floor(d)
end

function F.expected(t) return F.backIn(t, t.asked * MS) end
function F.claimFor(t) return F.expected(t) * 1.1 + 200 * MS end
function F.presence(t) return F.expected(t) * 1.5 + SEC end

function F.learnGap(t, since)
  local gap, last = min(floor(since / MS), 2147483647), t.gap
  local obeys = gap >= t.asked * 0.9 and gap <= t.asked * 1.1 + 400
  local keeps = last == 0 or abs(gap - last) <= last / 4 + 100
  t.gap = max(gap, floor((last * 7 + gap * 3) / 10))
  t.own = not obeys or keeps and not F.obedient()
end

function F.learnReload(d)
  d = min(max(d, 20 * MS), 2 * SEC)
  S.reload = S.reload + 0.1 * (d - S.reload)
end

function F.keepTime() return max(2 * S.reload, min(F.serviceTime(false), S.doorwait)) end

-- keptEnough reports whether free slots were kept for those ahead of somebody
-- who came for as long as is fair, and starts the clock.
function F.keptEnough()
  if S.keeping == 0 then S.keeping, S.kept = 1, n + F.keepTime() end
  return n >= S.kept
end

-- First polls: how many come of those that are due, and when.
function F.obedient() return S.f_offasked <= S.f_offgap + 50 * MS end

function F.firstCount(came)
  if S.f_due >= 1000 then S.f_due, S.f_came = S.f_due / 2, S.f_came / 2 end
  S.f_due, S.f_came = S.f_due + 1, S.f_came + came
end

function F.firstPoll(t, since)
  F.firstCount(1)
  S.f_offgap = S.f_offgap + 0.05 * (abs(since - S.f_gap) - S.f_offgap)
  S.f_offasked = S.f_offasked + 0.05 * (abs(since - t.asked * MS) - S.f_offasked)
  S.f_gap = S.f_gap + 0.05 * (since - S.f_gap)
end

function F.lateAfter(t)
  local d = S.f_gap + 3 * S.f_offgap
  if F.obedient() then d = max(d, t.asked * MS + 3 * S.f_offasked) end
  return d + 200 * MS
end

-- overdue has those be absent whose first poll has not come though it should.
function F.overdue()
  for _ = 1, FEW do
    if S.f_cursor >= S.number then return end
    local t = F.get(S.f_cursor)
    if t then
      if not t.polled and n - t.seen < F.lateAfter(t) then return end
      if t.class == FRESH then F.lapse(t) end
    end
    S.f_cursor = S.f_cursor + 1
  end
end
