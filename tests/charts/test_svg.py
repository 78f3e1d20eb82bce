"""Small shapes as an XML parser reads them."""

from xml.etree import ElementTree

from core.charts.svg import arrow, box, label, svg

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(*parts):
    return ElementTree.fromstring(svg(100, 50, parts))


# A margin of 2 pixels on each side, so that a line along the edge is not cut in half.
def test_the_frame_has_a_margin_for_its_lines():
    assert drawn().attrib["viewBox"] == "-2 -2 104 54"
    assert (drawn().attrib["width"], drawn().attrib["height"]) == ("104", "54")


def test_words_of_a_stranger_stay_words():
    words = "</text><script>alert('&')</script>"
    picture = drawn(label(1, 2, words))
    assert picture.find(f"{NAMESPACE}text").text == words
    assert not list(picture.iter(f"{NAMESPACE}script"))


def test_arrows_point_with_a_head_that_the_drawing_defines():
    picture = drawn(arrow("M0 0H9"), arrow("M0 9H9", both=True))
    (head,) = picture.iter(f"{NAMESPACE}marker")
    one, both = picture.findall(f"{NAMESPACE}path")
    assert one.get("marker-end") == both.get("marker-start") == f"url(#{head.attrib['id']})"
    assert one.get("marker-start") is None


def test_a_long_fraction_is_no_more_than_a_pixel_needs():
    assert drawn(box(100 / 3, 0, 10, 10)).find(f"{NAMESPACE}rect").attrib["x"] == "33.3333"
