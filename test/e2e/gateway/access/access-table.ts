import type { Name } from './access-rig.ts';

/**
 * Who may do what, and sees what: every route, every method by name and every tool, asked by everybody (A5/62, A5/67, A8/87–90, C14). A cell
 * has the letters of what is done or shown; `ok` says with which status. What a cell does not name is not there for that caller: of a list it
 * is left out, and all else is one and the same answer, whoever it belongs to, whether it was ever there or not.
 *
 * `a` Ann's own session · `b` Ann's and Bob's · `c` Bob's on another channel · `d` strangers' · `g` was Ann's, deleted · `n` never was ·
 * `e` never was, and Eve may begin it · `p` remembered of Ann · `q` of Bob · `s` by the agent · `y` how all of the system is · `t` a token
 * `l` a dead letter · `o` an outgoing message that may not have arrived · `u` a stranger who waits, or was let in
 * `w` an account whose messages wait
 *
 * `403ab`: those are answered 403. `403` alone: everything is, in the same words. `-`: nothing is there. `=`: as the cell to the left.
 */
const table = `
                                               ok   owner        admin  reader  ann        bob        eve     telegram     discord      groups  ann@tg     approver  appr@tg  appr@groups  viewer  viewer@gone
# what there is to see
GET /v1/sessions                               200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/events                                 200  abcdg        =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/events, of a prefix                    200  abg          =      =       ab         b          -       ab           -            b       ab         -         -        -     a       -
GET /v1/events, streamed                       200  abcdg        =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/approvals                              200  abcd         =      =       ab         bc         -       ab           c            b       ab         abcd      ab       b     a       -
GET /v1/memory                                 200  abcdgpqs     =      =       abp        bcq        -       -            -            -       -          -         -        -     -       -
GET /v1/memory, searched                       200  abcdgpqs     =      =       abp        bcq        -       -            -            -       -          -         -        -     -       -
GET /v1/search                                 200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
rpc messages.search                            200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
rpc sessions.list                              200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
rpc approvals.list                             200  abcd         =      =       ab         bc         -       ab           c            b       ab         abcd      ab       b     a       -
rpc memory.list                                200  abcdgpqs     =      =       abp        bcq        -       -            -            -       -          -         -        -     -       -
rpc status                                     200  abcdy        =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
ws subscribe                                   200  abcdg        =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
mcp sessions_list                              200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
mcp events_wait                                200  abcdg        =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
mcp approvals_list                             200  abcd         =      =       ab         bc         -       ab           c            b       ab         abcd      ab       b     a       -
# one session, read
GET /v1/sessions/:key                          200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
POST /v1/sessions/:key/read                    200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/messages                 200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/messages, paged          200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/messages, backwards      200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/commits                  200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/damage                   200  abcdg        =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/sessions/:key/commits/stored           200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/state                    200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/state, long ago          200  404abcd      =      =       404ab      404bc      -       404ab        404c         404b    404ab      -         -        -     404a    -
GET /v1/sessions/:key/attachments/:digest      200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/diff                     200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/deliveries               200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/events                   200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/events, streamed         200  abcdgne      =      =       ab         bc         e       ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/runs/:runId              200  abcdg/404ne  =      =       ab         bc         404e    ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/runs/:runId, waiting     200  abcdg/404ne  =      =       ab         bc         404e    ab           c            b       ab         -         -        -     a       -
GET /v1/sessions/:key/runs/:runId, of none     200  404abcdgne   =      =       404ab      404bc      404e    404ab        404c         404b    404ab      -         -        -     404a    -
POST /v1/tickets, then a stream                200  abcdgne      =      =       ab         bc         e       ab           c            b       ab         -         -        -     a       -
GET /v1/ui/chat/:id/stream                     204  abcdgne      =      =       ab         bc         e       ab           c            b       ab         -         -        -     a       -
GET /v1/ui/chat/:id/messages                   200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/responses/:id                          200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/responses/:id/input_items              200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/conversations/:id                      200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/conversations/:id/items                200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
GET /v1/conversations/:id/items/:itemId        200  404abcd      =      =       404ab      404bc      -       404ab        404c         404b    404ab      -         -        -     404a    -
rpc sessions.read                              200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
rpc chat.history                               200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
rpc agent.wait                                 200  abcdg/404ne  =      =       ab         bc         404e    ab           c            b       ab         -         -        -     a       -
rpc agent.wait, by id alone                    200  abcdg/404ne  =      =       ab         bc         404e    ab           c            b       ab         -         -        -     a       -
rpc agent.wait, of none                        200  404abcdgne   =      =       404ab      404bc      404e    404ab        404c         404b    404ab      -         -        -     404a    -
ws subscribe, to one                           200  abcdgne      =      =       ab         bc         e       ab           c            b       ab         -         -        -     a       -
mcp sessions_history                           200  abcd         =      =       ab         bc         -       ab           c            b       ab         -         -        -     a       -
mcp events_wait, for one                       200  abcdgne      =      =       ab         bc         e       ab           c            b       ab         -         -        -     a       -
# one session, written to
POST /v1/sessions/:key/messages                202  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/messages, waiting       200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/messages, behind many   202  abcdgne      =      403     a/429b     429bc      e       a/429b       429c         429b    a/429b     403       403      403   403     403
POST /v1/sessions/:key/messages, append        202  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/messages, later         202  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/messages, if unchanged  202  412abcdgne   =      403     412ab      412bc      412e    412ab        412c         412b    412ab      403       403      403   403     403
POST /v1/sessions/:key/messages, /new          200  abcdgne      =      403     a/403b     403bc      e       a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/messages, /compact      200  abcdgne      =      403     a/403b     403bc      e       a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/messages, /name x       200  abcdgne      =      403     a/403b     403bc      e       a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/messages, /export x     200  abcdgne      =      403     a/403b     403bc      e       a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/messages, /stop         200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/messages, /usage        200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/messages, /send on      200  abcdgne      =      403     403ab      403bc      403e    403ab        403c         403b    403ab      403       403      403   403     403
POST /v1/sessions/:key/messages, /pair X       200  abcdgne      =      403     403ab      403bc      403e    403ab        403c         403b    403ab      403       403      403   403     403
POST /v1/sessions/:key/open                    200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
DELETE /v1/sessions/:key/runs/:runId           200  abcd/409gne  =      403     ab         403bc      409e    a/403b       403c         403b    ab         403       403      403   403     403
POST /v1/sessions/:key/stop                    200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/deactivate              200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/reset                   200  abcd/404gne  =      403     a/403b     403bc      404e    a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/compact                 202  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/checkpoint              202  abcd         =      403     ab         bc         -       ab           c            b       ab         403       403      403   403     403
POST /v1/sessions/:key/repair                  200  409abcdgne   =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/sessions/:key/fork                    200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
POST /v1/sessions/:key/fork, long ago          200  404abcd      =      403     404a/403b  403bc      -       404a/403b    403c         403b    404a/403b  403       403      403   403     403
PATCH /v1/sessions/:key                        200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
PATCH /v1/sessions/:key, if unchanged          200  412abcd      =      403     412a/403b  403bc      -       412a/403b    403c         403b    412a/403b  403       403      403   403     403
DELETE /v1/sessions/:key                       200  ad/409bc     =      403     a/409b     409bc      -       403          403          403     a/409b     403       403      403   403     403
DELETE /v1/sessions/:key, with its key         200  abcd         =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/inbound                               202  abcdgne      =      403     403        403        403     abgne/403cd  c/403abdgne  403     ab/403cde  403       403      403   403     403
POST /v1/ui/chat                               200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/ui/chat, with an answer               200  abcd/404gne  =      403     ab         c/403b     404e    403ab        403c         403b    ab         403       403      403   403     403
POST /v1/agui                                  200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/agui, with an answer                  200  abcd/404gne  =      403     ab         c/403b     404e    403ab        403c         403b    ab         403       403      403   403     403
POST /v1/chat/completions, by header           200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/responses/:id/cancel                  200  abcd         =      403     ab         bc         -       ab           c            b       ab         403       403      403   403     403
DELETE /v1/responses/:id                       200  409abcd      =      403     409ab      409bc      -       409ab        409c         409b    409ab      403       403      403   403     403
POST /v1/conversations/:id                     200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
DELETE /v1/conversations/:id                   200  ad/409bc     =      403     a/409b     409bc      -       403ab        403c         403b    a/409b     403       403      403   403     403
POST /v1/conversations/:id/items               200  abcd         =      403     ab         bc         -       ab           c            b       ab         403       403      403   403     403
DELETE /v1/conversations/:id/items/:itemId     200  404abcd      =      403     404ab      404bc      -       404ab        404c         404b    404ab      403       403      403   403     403
POST /v1/responses, by conversation            200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
POST /v1/responses, after another              200  abcd         =      403     ab         bc         -       ab           c            b       ab         403       403      403   403     403
rpc chat.send                                  200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
rpc agent                                      200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
rpc sessions.reset                             200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
rpc sessions.compact                           200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
rpc sessions.checkpoint                        200  abcd         =      403     ab         bc         -       ab           c            b       ab         403       403      403   403     403
rpc sessions.fork                              200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
rpc sessions.patch                             200  abcd         =      403     a/403b     403bc      -       a/403b       403c         403b    a/403b     403       403      403   403     403
rpc sessions.patch, sendPolicy                 200  abcd         =      403     403ab      403bc      -       403ab        403c         403b    403ab      403       403      403   403     403
rpc sessions.delete                            200  ad/409bc     =      403     a/409b     409bc      -       403          403          403     a/409b     403       403      403   403     403
rpc sessions.delete, with its key              200  abcd         =      403     403        403        403     403          403          403     403        403       403      403   403     403
mcp sessions_send                              200  abcdgne      =      403     ab         bc         e       ab           c            b       ab         403       403      403   403     403
# what waits for a person
POST /v1/approvals/:id                         200  abcd         =      403     ab         c/403b     -       403ab        403c         403b    ab         abcd      ab       b     403     403
POST /v1/approvals/:id, by session             200  abcd         =      403     ab         c/403b     -       403ab        403c         403b    ab         abcd      ab       b     403     403
rpc approvals.resolve                          200  abcd         =      403     ab         c/403b     -       403ab        403c         403b    ab         abcd      ab       b     403     403
mcp approvals_respond                          200  abcd         =      403     ab         c/403b     -       403ab        403c         403b    ab         abcd      ab       b     403     403
# what is remembered
GET /v1/memory/:id                             200  abcdgpqs     =      =       abp        bcq        -       -            -            -       -          -         -        -     -       -
GET /v1/memory, of one scope                   200  abcdgpqs     =      =       abp        bcq        -       -            -            -       -          -         -        -     -       -
POST /v1/memory                                201  abcdpqs      =      403     ap/403bqs  q/403bcps  403pqs  403          403          403     403        403       403      403   403     403
DELETE /v1/memory/:id                          200  abcdgpqs     =      403     ap/403b    q/403bc    -       -            -            -       -          403       403      403   403     403
rpc memory.get                                 200  abcdgpqs     =      =       abp        bcq        -       -            -            -       -          -         -        -     -       -
rpc memory.forget                              200  abcdgpqs     =      403     ap/403b    q/403bc    -       -            -            -       -          403       403      403   403     403
# the callers' own, and the system's
POST /v1/chat/completions                      200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/chat/completions, of a user           200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/responses                             200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/conversations                         200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/embeddings                            400  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/ui/chat, under a word                 200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/agui, under a word                    200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/tickets                               201  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
POST /v1/page/codes                            201  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    403     403
POST /v1/page/logout                           400  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /v1/me                                     200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /v1/ws                                     200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
ws unsubscribe, of none                        404  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
POST /mcp, of its tools                        200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /mcp                                       405  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
DELETE /mcp                                    405  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /v1/models                                 200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /v1/models*                                200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /v1/openapi.json                           200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /v1/asyncapi.json                          200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
GET /metrics                                   200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    403     403
GET /v1/metrics/history                        200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    403     403
GET /v1/audit                                  200  ok           =      404     404        404        404     404          404          404     404        404       404      404   404     404
GET /v1/retention                              200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/hosts                                  200  ok           =      =       403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/skills                                 200  ok           =      =       403        403        403     403          403          403     403        403       403      403   403     403
rpc hosts.list                                 200  ok           =      =       403        403        403     403          403          403     403        403       403      403   403     403
rpc skills.list                                200  ok           =      =       403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/config                                 200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/doctor                                 200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/log                                    200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc config.get                                 200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc doctor.run                                 200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc log.tail                                   200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/scheduled-messages                     200  ok           =      =       ok         ok         ok      ok           ok           ok      ok         ok        ok       ok    ok      ok
DELETE /v1/scheduled-messages/:runId           200  abcdne       =      403     -          -          -       -            -            -       -          403       403      403   403     403
GET /v1/dead-letters                           200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/dead-letters/:seq                      200  l            =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/dead-letters/:seq/resend              200  l            =      403     403        403        403     403          403          403     403        403       403      403   403     403
DELETE /v1/dead-letters/:seq                   200  l            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deadLetters.list                           200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deadLetters.get                            200  l            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deadLetters.resend                         200  l            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deadLetters.discard                        200  l            =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/deliveries                             200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/deliveries/delivered                   200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/deliveries/:seq                        200  o            =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/deliveries/:seq/repeat                200  o            =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/deliveries/:seq/leave                 200  o            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deliveries.list                            200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deliveries.delivered                       200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deliveries.get                             200  o            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deliveries.repeat                          200  o            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deliveries.leave                           200  o            =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/deliveries/resume                     200  w            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc deliveries.resume                          200  w            =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/pairing                                200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/pairing/approve                       200  u            =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/pairing/deny                          200  u            =      403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/pairing/revoke                        200  u            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc pairing.list                               200  ok           =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc pairing.approve                            200  u            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc pairing.deny                               200  u            =      403     403        403        403     403          403          403     403        403       403      403   403     403
rpc pairing.revoke                             200  u            =      403     403        403        403     403          403          403     403        403       403      403   403     403
GET /v1/tokens                                 200  403          ok     403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/tokens                                201  403          ok     403     403        403        403     403          403          403     403        403       403      403   403     403
POST /v1/tokens/:id/rotate                     200  403          t      403     403        403        403     403          403          403     403        403       403      403   403     403
DELETE /v1/tokens/:id                          200  403          t      403     403        403        403     403          403          403     403        403       403      403   403     403
`;

/** The columns, and who stands for each. */
const callers: Readonly<Record<string, readonly Name[]>> = {
  owner: ['second'],
  // The installation's own token is an administrator's.
  admin: ['owner', 'admin'],
  reader: ['reader'],
  ann: ['ann'],
  bob: ['bob'],
  eve: ['eve'],
  telegram: ['telegram'],
  discord: ['discord'],
  groups: ['telegramGroups'],
  'ann@tg': ['annAtTelegram'],
  approver: ['approver'],
  'appr@tg': ['approverAtTelegram'],
  'appr@groups': ['approverOfGroups'],
  viewer: ['viewer'],
  'viewer@gone': ['viewerOfGone'],
};

/** These want no token, each with its reason. All else is in the table, and answers nobody without one. */
export const open: Readonly<Record<string, string>> = {
  'GET /livez': 'whoever watches over the process has no token; it says that it lives',
  'GET /readyz': 'the same; it says which part is not ready, and nothing of sessions',
  'GET /': 'the page before anybody is signed in; a file without a secret',
  'GET /assets/:name': 'what the page is made of; the same',
  ...Object.fromEntries(
    ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration']
      .flatMap((name) => [`GET /.well-known/${name}`, `GET /.well-known/${name}/:path`])
      .map((route) => [route, 'who has no token yet is told that there is no OAuth; nothing of sessions']),
  ),
  ...{ 'GET /mcp/.well-known/:name': 'the same', 'GET /authorize': 'the same' },
  ...{ 'POST /register': 'the same; the body is not read', 'POST /token': 'the same; the body is not read' },
  'POST /v1/page/login': 'the way in: a one-time code instead of a token, from the own page alone',
};

type Expected = (letter: string) => number | 'not there';
export interface Row {
  readonly title: string;
  /** The status of what is done. */
  readonly ok: number;
  readonly cells: readonly { readonly name: Name; readonly cell: string; readonly expected: Expected }[];
}

const expectedOf = (cell: string, ok: number): Expected => {
  if (cell === 'ok') return () => ok;
  if (/^\d{3}$/.test(cell)) return () => Number(cell);
  const parts = cell === '-' ? [] : cell.split('/').map((part) => /^(\d{3})?([a-z]+)$/.exec(part) ?? []);
  return (letter) => {
    const found = parts.find(([, , letters]) => letters?.includes(letter));
    return found === undefined ? 'not there' : Number(found[1] ?? ok);
  };
};

const [header = '', ...lines] = table.trim().split('\n');
const columns = header.trim().split(/\s+/).slice(1);

export const rows: readonly Row[] = lines
  .filter((line) => !line.startsWith('#'))
  .map((line) => {
    const [title = '', status, ...written] = line.split(/ {2,}/);
    const ok = Number(status);
    const cells: string[] = [];
    for (const cell of written) cells.push(cell === '=' ? (cells.at(-1) ?? cell) : cell);
    return {
      title,
      ok,
      cells: columns.flatMap((column, at) =>
        (callers[column] ?? []).map((name) => ({ name, cell: cells[at] ?? '', expected: expectedOf(cells[at] ?? '', ok) })),
      ),
    };
  });
