-- Meter and bucket: what the line measures, and the limit of admissions. This
-- is meter.go and bucket.go of package memory, over the whole fleet.

function F.memory()
  local s = S.svd > 0 and S.svn / S.svd or 0
  if S.hold > 0 then s = S.hold end
  return min(max(4 * s, 16 * s / max(1, S.cap), SEC), 300 * SEC)
end

function F.meterAdvance(waiting)
  local d = n - S.m_at
  if d <= 0 then return end
  S.area = S.area + S.used * d
  if waiting then S.wait = S.wait + d - F.lull() end
  S.m_at = n
  if n - S.m_fold >= 20 * MS then F.fold() end
end

-- full reports whether every slot is out.
function F.full() return S.cap > 0 and S.out >= S.cap end

-- lull is the part of the time up to now in which the site hung, and which
-- says nothing about the drain.
function F.lull()
  if not F.full() then return 0 end
  return max(0, n - max(S.m_at, S.lastg + max(5 * SEC, 2 * S.hold)))
end

function F.fold()
  local d = n - S.m_fold
  if d <= 0 then return end
  S.m_fold = n
  if S.area ~= 0 or S.ends > 0 then
    local x = d / F.memory()
    local f = exp(-x)
    S.svn, S.svd = S.svn * f, S.svd * f
    f = (1 - f) / x
    S.svn, S.svd = max(0, S.svn + f * S.area), S.svd + f * S.ends
  end
  local f = exp(-d / (10 * SEC))
  S.rtn, S.rtd = S.rtn * f + S.grants, S.rtd * f + d
  f = exp(-d / (5 * SEC))
  S.usn, S.usd = max(0, S.usn * f + S.area), S.usd * f + d
  f = exp(-S.wait / (10 * SEC))
  S.drn, S.drd = S.drn * f + S.waitgr, S.drd * f + S.wait
  S.area, S.ends, S.grants, S.wait, S.waitgr = 0, 0, 0, 0, 0
end

function F.ended(count, sum)
  S.ends = S.ends + count
  local mean = sum / count
  if S.hold == 0 then S.hold = mean end
  S.hold = S.hold + (1 - (15 / 16) ^ count) * (mean - S.hold)
end

function F.serviceTime(full)
  local num, den = S.svn + S.area, S.svd + S.ends
  local v = den > 0 and num / den or 3600 * SEC
  v = min(v, 3600 * SEC)
  if full then v = max(v, n - S.lastg) end
  return max(v, 1)
end

function F.untilTurn(rank, slots, full)
  local each = F.serviceTime(full) / slots
  local since = n - S.lastg
  if not full then return max(0, rank * each - min(each, since)) end
  local first = abs(F.serviceTime(false) / slots - since)
  return max(0, (rank - 1) * each + first)
end

function F.steadyTime()
  local s = F.serviceTime(false)
  if S.hold > 0 then s = min(s, S.hold) end
  return max(s, 1)
end

-- calm is the service time as it was when a slot was given last.
function F.calm() return S.calm or F.serviceTime(false) end

-- late is for how long every slot has been out beyond the calm service time.
function F.late()
  if not F.full() then return 0 end
  return max(0, n - S.lastg - F.calm())
end

-- stalled reports whether being that late makes any estimate a guess.
function F.stalled(late) return late > max(120 * SEC, 2 * F.calm()) end

function F.drainRate()
  local num, den = S.drn + S.waitgr, S.drd + S.wait
  if num < 4 or den < SEC then return 0 end
  return num / den
end

-- The bucket counts in units of 1/inflow nanosecond: a permit costs the
-- interval exactly.
function F.bucketFill()
  local d = n - S.bat
  if d <= 0 then return end
  S.bat = n
  if S.inflow > 0 then S.bcredit = min(S.bfull, S.bcredit + d * S.inflow) end
end

function F.bucketConfigure(inflow, interval, burst)
  if S.inflow then F.bucketFill() end
  local had, credit, price = S.inflow or 0, S.bcredit, S.interval
  S.bat = n
  if inflow <= 0 or interval <= 0 then S.inflow, S.interval, S.bfull, S.bcredit = 0, 0, 0, 0; return end
  if burst <= 0 then burst = inflow end
  S.inflow, S.interval = inflow, interval
  S.bfull = burst * interval + inflow - 1
  S.bcredit = S.bfull
  if had > 0 then
    local saved, rest = floor(credit / price), credit % price
    local most = floor(S.bfull / interval)
    S.bcredit = min(most * interval, min(saved, most) * interval + floor(rest / price * interval))
  end
end

function F.permits()
  if S.inflow == 0 then return 2147483647 end
  F.bucketFill()
  return floor(S.bcredit / S.interval)
end

function F.bucketNext()
  local need = S.interval - S.bcredit % S.interval
  return S.bat + floor((need + S.inflow - 1) / S.inflow)
end

-- free is how many may be let in now. Slots that are lent out are not free,
-- whether they are in use or not.
function F.free()
  if S.mode ~= 0 or n < S.held then return 0 end
  local f = S.cap > 0 and S.cap - S.out or 2147483647
  return min(f, F.permits())
end

-- admit gives a slot to an instance.
function F.admit(name, waiting)
  local r = F.instance(name)
  r.lease, r.used = r.lease + 1, r.used + 1
  S.out, S.used = S.out + 1, S.used + 1
  F.touch(name, r)
  S.lastg, S.calm = n, F.serviceTime(false)
  S.grants = S.grants + 1
  if waiting then S.waitgr = S.waitgr + 1 end
  if S.inflow > 0 then F.bucketFill(); S.bcredit = S.bcredit - S.interval end
  S.admitted = S.admitted + 1
end

-- unadmit takes back what nobody made use of. Called with a record that is saved
-- afterwards.
function F.unadmit(r)
  r.lease, r.used = r.lease - 1, r.used - 1
  S.out, S.used, S.admitted = S.out - 1, S.used - 1, S.admitted - 1
  if S.inflow > 0 then F.bucketFill(); S.bcredit = min(S.bfull, S.bcredit + S.interval) end
end
