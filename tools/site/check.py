"""Opens each page of the site in a browser, as files, without a server: no link may be broken, nothing may fail in the
console, code must have colours, and the search must find what there is.

    check.py FOLDER [--pictures FOLDER]
"""

import pathlib
import sys
import urllib.parse

from browser import Browser

# Words, and a page that the search must find for each.
SEARCHES = {"gradient": "docs/tutorial/ad.html", "BroadcastMismatch": "docs/errors.html", "hessian": "docs/tour.html",
            "softmax": "docs/operators/nn.html"}
PICTURED = ["index.html", "docs/tour.html", "docs/errors.html"]

LOOK = """({
  links: [...document.querySelectorAll('a[href]')].map(a => a.href),
  images: [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src),
  names: [...document.querySelectorAll('[id]')].map(e => e.id),
  plain: [...document.querySelectorAll('div.highlight-relay pre')].filter(p => !p.querySelector('span[class]')).length
})"""


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pictures = pathlib.Path(sys.argv[3]) if sys.argv[2:3] == ["--pictures"] else None
    pages = sorted(site.rglob("*.html"))
    pages = [page for page in pages if "_static" not in page.parts]
    troubles, names, links = [], {}, []
    with Browser() as browser:
        for page in pages:
            browser.open(page.as_uri())
            seen = browser.value(LOOK)
            at = page.relative_to(site)
            troubles += [f"{at}: {trouble}" for trouble in browser.troubles()]
            troubles += [f"{at}: no picture at {image}" for image in seen["images"]]
            if seen["plain"]:
                troubles.append(f"{at}: {seen['plain']} blocks of code without colours")
            names[page] = set(seen["names"])
            links += [(at, link) for link in seen["links"]]
            if pictures and str(at) in PICTURED:
                browser.picture(pictures / f"{page.stem}.png")
        for at, link in links:
            url = urllib.parse.urlparse(link)
            if url.scheme != "file":
                continue
            target, name = pathlib.Path(urllib.parse.unquote(url.path)), urllib.parse.unquote(url.fragment)
            if not target.is_file():
                troubles.append(f"{at}: broken link to {link}")
            elif name and target in names and name not in names[target]:
                troubles.append(f"{at}: link to {target.relative_to(site)}#{name}, which has no such place")
        for word, wanted in SEARCHES.items():
            browser.open(f"{(site / 'search.html').as_uri()}?q={word}")
            found = f"[...document.querySelectorAll('#search-results a')].some(a => a.href.includes('{wanted}'))"
            if not browser.wait(found):
                troubles.append(f"the search for {word} does not find {wanted}")
            troubles += [f"search for {word}: {trouble}" for trouble in browser.troubles()]
            if pictures:
                browser.picture(pictures / f"search-{word}.png")
    for trouble in dict.fromkeys(troubles):
        print(trouble)
    print(f"{len(pages)} pages, {len(links)} links, {len(SEARCHES)} searches: {len(set(troubles))} troubles")
    sys.exit(1 if troubles else 0)


main()
