// Fills in a page; style and drawing functions are compiled in.
#include "runtime/html_page.h"

#include "base/assert.h"
#include "runtime/page_draw.h"
#include "runtime/page_style.h"

namespace tocsin {
namespace {

void fill(std::string& page, std::string_view mark, std::string_view text) {
  const std::size_t at = page.find(mark);
  TOCSIN_ASSERT(at != std::string::npos);
  page.replace(at, mark.size(), text);
}

// "</script>" inside a string would end the script element (HTML standard, 4.12.1.3).
std::string escaped_for_script(std::string text) {
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  return text;
}

}  // namespace

std::string html_page(std::string_view page, std::string json) {
  std::string filled(page);
  fill(filled, "/*STYLE*/", kPageStyle);
  fill(filled, "/*DRAW*/", kPageDraw);
  fill(filled, "/*DATA*/null", escaped_for_script(std::move(json)));
  return filled;
}

}  // namespace tocsin
