# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
# What gets installed where, and the packages: `cmake --install build/release`, `cpack --config build/release/CPackConfig.cmake`.

install(TARGETS flipscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Started by the program, and found by its place beside it: nothing to call by hand.
install(TARGETS flipscope_trial RUNTIME DESTINATION libexec/flipscope)
if(TARGET flipscope_cuda)
  # Loaded at run time, and found by its place beside the program: no library that others link.
  install(TARGETS flipscope_cuda LIBRARY DESTINATION lib/flipscope)
endif()

install(DIRECTORY resources/samples DESTINATION ${CMAKE_INSTALL_DATADIR}/flipscope)
install(DIRECTORY resources/capture DESTINATION ${CMAKE_INSTALL_DATADIR}/flipscope
  PATTERN __pycache__ EXCLUDE PATTERN CMakeLists.txt EXCLUDE)
install(DIRECTORY resources/manual DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# What the program carries inside it (fonts, colour maps) and the sample come under licences of their own.
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES resources/fonts/OFL.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/LICENSES RENAME Inter-OFL.txt)
install(FILES resources/colormaps/LICENSES.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/LICENSES RENAME colormaps.md)
install(FILES packaging/flipscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
if(FLIPSCOPE_UI)
  install(FILES packaging/flipscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES packaging/org.flipscope.Flipscope.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  install(FILES packaging/flipscope-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME flipscope.xml)
  install(FILES resources/icons/flipscope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()

set(CPACK_PACKAGE_NAME flipscope)
set(CPACK_PACKAGE_VENDOR "The Flipscope authors")
set(CPACK_PACKAGE_CONTACT "The Flipscope authors <flipscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Opens logit traces of several runs of one language model along the same text, computes how far each is from a baseline, \
shows where in the context the most likely token flips, and leads from there down to the token.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # needs dpkg-dev and file
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qt6-wayland, fonts-dejavu-core, python3-numpy, python3-h5py")
include(CPack)
