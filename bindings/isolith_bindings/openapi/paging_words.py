"""What APIs call the parts of a list in pages, spelled without case, dashes, dots and brackets."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CURSOR = _words(
    "cursor after startingafter startcursor pagetoken nexttoken nextpagetoken continue continuationtoken marker since "
    "nextcursor pagecursor pageafter exclusivestartkey pagestate paginationtoken scrollid"
)
PAGE = _words("page pagenumber pageno pageindex pagenum currentpage")
OFFSET = _words("offset skip start startindex startat pageoffset firstresult")
SIZE = _words("perpage pagesize limit maxresults maxitems count size pagelimit first top itemsperpage maxpagesize")
# A parameter that alone says that an operation answers in pages; `limit`, `first` and others do not.
TELLING = CURSOR | PAGE | OFFSET | {"perpage", "pagesize", "maxpagesize", "itemsperpage", "pagelimit"}

NEXT_URL = _words("next nexturl nextlink nextpageurl nextpage nexthref odatanextlink")
NEXT_CURSOR = _words(
    "nextcursor nextpagetoken nexttoken nextpagecursor continuationtoken continue endcursor nextmarker next after "
    "nextpage scrollid cursor paginationtoken nextstartingafter"
)
HAS_MORE = _words("hasmore hasnext hasnextpage more moreavailable")
TOTAL = _words("total totalcount totalitems totalresults totalrecords totalelements")
TOTAL_PAGES = _words("totalpages pagecount lastpage numpages pages")
# Where all of these may stand, beside the answer itself.
HOLDERS = _words(
    "meta metadata pagination paging pageinfo responsemetadata resultinfo links cursors page next data result"
)

_BETWEEN = re.compile(r"[^0-9a-z]+")


def plain(name: str) -> str:
    """`page[after]`, `page-after` and `pageAfter` as one word."""
    return _BETWEEN.sub("", name.lower())
